"""Extensions that come with the workbench, a folder each; the core knows them by `registry.extensions` alone."""
