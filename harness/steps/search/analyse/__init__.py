"""Text → the terms that lexical retrieval matches, by analysers with a name."""

from harness.steps.search.analyse.analyser import ANALYSER_TEXT, Analyser, AnalyserName, StopWords
from harness.steps.search.analyse.synonyms import Synonyms
