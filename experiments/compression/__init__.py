"""Network compression (§5.3): a Bayesian LeNet-5 on MNIST, its GPU kernels, the experiment."""
