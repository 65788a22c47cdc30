"""What the menu of the site shows, by task: (heading, [(text, page)])."""

MENU = [
    ("Try it", [
        ("What saltus is", "index.html"),
        ("A tour", "docs/tour.html"),
        ("Installing", "docs/installing.html"),
        ("Gallery", "gallery/index.html"),
    ]),
    ("Sample", [
        ("Problems you already have", "docs/problems.html"),
        ("Models and files", "docs/formats.html"),
        ("When to use what", "docs/choosing.html"),
        ("Samplers", "docs/samplers.html"),
        ("Tuning", "docs/tuning.html"),
        ("Report pages", "docs/report.html"),
        ("Several processes", "docs/distributed.html"),
        ("On a GPU", "docs/gpu.html"),
        ("Networks as models", "docs/deep.html"),
        ("Gaps of a sentence", "docs/infill.html"),
        ("Binary Bayesian networks", "docs/bnn.html"),
    ]),
    ("Many modes", [
        ("Tempering", "docs/tempering.html"),
        ("log Z", "docs/logz.html"),
        ("Exact answers", "docs/exact.html"),
        ("How long is enough", "docs/certify.html"),
    ]),
    ("Learn", [("Learning from data", "docs/learning.html")]),
    ("Optimise", [
        ("The best state", "docs/annealing.html"),
        ("Largest cuts", "results/maxcut/README.html"),
    ]),
    ("Embed", [
        ("In Python", "docs/python.html"),
        ("In a C++ program", "docs/embedding.html"),
        ("Examples", "examples/index.html"),
        ("Public headers", "include/index.html"),
    ]),
    ("Build on it", [
        ("A target of your own", "docs/adding-a-target.html"),
        ("A sampler of your own", "docs/adding-a-sampler.html"),
        ("Architecture", "docs/architecture.html"),
        ("Contributing", "CONTRIBUTING.html"),
        ("Changelog", "CHANGELOG.html"),
    ]),
    ("Judge it", [
        ("Correctness", "docs/correctness.html"),
        ("Performance", "docs/performance.html"),
        ("Precision", "docs/precision.html"),
        ("The paper, repeated", "docs/reproduce.html"),
        ("The paper's texts", "docs/reproduce-text.html"),
        ("Findings", "docs/findings.html"),
        ("Table 1", "docs/table-1.html"),
        ("Results", "results/README.html"),
        ("Security", "docs/security.html"),
        ("Reporting a fault", "SECURITY.html"),
    ]),
]
