"""Does a refactoring keep every suggestion, bit for bit?

    python -m benchmarks.fingerprint                              one hash a door
    python -m benchmarks.fingerprint --against ../old-checkout    the same on other sources, side by side
    python -m benchmarks.fingerprint --only xs --only "study file"
    python -m benchmarks.fingerprint --as-in-0.1.0 --against ../0.1.0    with the settings of 0.1.0

A door is a front door of tumble with a short, fixed search behind it (`optimizers`, `studies`, `models`). Its
hash is taken over the setting, ρ, P(safe), mean and standard deviation of every suggestion, to the last bit,
not over names of modes and sentences. Only public names are used, so that the searches of this checkout run
on other sources as well, in a process of their own with one BLAS thread. No hash is kept anywhere, because
another machine has other last bits: compare two states on one machine. The exit code is 1 where a
door differs or raises.
"""
