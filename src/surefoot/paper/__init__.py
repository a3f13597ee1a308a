"""The paper's experiment (Holland 2022, section 5), run with the library's own parts."""
