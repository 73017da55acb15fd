"""Active labelling: passages are drawn with known chances, and the grades so far become estimates."""
