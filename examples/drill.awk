# A drill that does not exist, in AWK: the rig of drill.toml.
# One trial: reads -v speed=... flutes=... bit=... feed=..., prints one line of JSON.
# It breaks (exit code 1) where the feed is far too high for the speed.
BEGIN {
    hard = (bit == "carbide") ? 1.0 : 0.72
    load = feed * flutes * 900 / speed
    torque = 4 + 34 * feed / hard + 2.2 * load
    temperature = 24 + 0.013 * speed / hard + 60 * feed
    if (load > 2.6) { print "the bit broke" > "/dev/stderr"; exit 1 }
    seconds = 4200 / (speed * feed * sqrt(flutes))
    wear = 0.4 * (speed / 1000) ^ 2 / hard + ((bit == "carbide") ? 1.1 : 0.5)
    printf "{\"cost\": %.4f, \"torque\": %.3f, \"temperature\": %.2f}\n", seconds / 4 + wear, torque, temperature
}
