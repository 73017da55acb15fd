// State shared by the parts of the page.

export const shared = {
  rater: '',
  about: null,
  item: null,
  progress: null,
  captions: [],
  busy: false,
  unsaved: false,
  // a range of a document that is selected: {doc_id, start, end, text}
  selected: null,
  // called with the reason why something is not saved yet, or null once it is
  waiting: () => {},
};
