"""What other pipelines were asked, read and answered: files of ragas, traces of production. In and out."""
