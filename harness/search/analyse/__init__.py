"""Text → the terms that lexical retrieval matches. One file a language; one table of analysers."""

from harness.search.analyse.analyser import ANALYSER_TEXT, Analyser, AnalyserName
from harness.search.analyse.english import StopWords
from harness.search.analyse.synonyms import Synonyms
