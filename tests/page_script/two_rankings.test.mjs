import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, plain } from './load.mjs';

const { foundAt, isInText, matched, placesOf, sharedEvidence, shareText, softBreaks, isControl, setData } = load(
  ['foundAt', 'isInText', 'matched', 'placesOf', 'sharedEvidence', 'shareText', 'softBreaks', 'isControl'],
  ['format.js', 'data.js', 'scale.js', 'passages.js', 'two_rankings.js']);

// chunks 0 to 3 cut document 0 by 100 characters; chunk 4 is 50 to 150; chunk 5 is of another document
function data() {
  return {
    record: {},
    detail: {
      chunks: { document: [0, 0, 0, 0, 0, 1], start: [0, 100, 200, 300, 50, 0], end: [100, 200, 300, 400, 150, 100], page: [], before: {} },
      evidence: [[[0, 90, 140, 4], [0, 310, 320, 1], [0, 10, 20, 0]]],
    },
  };
}

test('a span that is touched and not earned is found partly', () => {
  setData(data());
  const span = [0, 90, 140, 4];
  // chunk 0 holds ten of its characters and has grade 1 for something else; chunk 1 earns it
  assert.deepEqual(plain(foundAt(span, [[0, 1], [], [1, 4], []])), { rank: 2, partly: false });
  assert.deepEqual(plain(foundAt(span, [[5, 0], [], [4, 1], []])), { rank: 2, partly: true });
  assert.equal(foundAt(span, [[5, 2], [], [4, 4], []]), null);
  assert.equal(foundAt(span, null), null);
});

test('a better grade earns a span only where half of it stands in the passage', () => {
  setData(data());
  assert.deepEqual(plain(foundAt([0, 90, 140, 2], [[0], [], [4], []])), { rank: 1, partly: true });
  assert.deepEqual(plain(foundAt([0, 90, 140, 2], [[1], [], [4], []])), { rank: 1, partly: false });
});

test('a span that is barely touched is not found, whatever else has its grade', () => {
  setData(data());
  // the passage has its grade from another span, and a tenth of this one
  const [span, ranking] = [[0, 90, 190, 4], [[0], [], [4], []]];
  assert.deepEqual(plain(foundAt(span, ranking)), { rank: 1, partly: true });
  // half of the passage is enough, where the span is longer than it
  assert.deepEqual(plain(foundAt([0, 50, 900, 4], ranking)), { rank: 1, partly: false });
  const by = (relevance) => {
    setData({ ...data(), record: { config: { relevance } } });
    return foundAt(span, ranking).partly;
  };
  assert.deepEqual([by({ rule: 'any_overlap' }), by({ rule: 'full_cover' }), by({ rule: 'half_of_span_or_chunk', span_share: 0.1 })], [false, true, false]);
});

test('passages that share less than half of the shorter one are not the same', () => {
  const of = (start) => {
    setData({ detail: { chunks: { document: [0, 0], start: [0, start], end: [100, start + 60], page: [], before: {} } } });
    return plain(matched([[0]], [[1]]));
  };
  assert.deepEqual([99, 71, 70].map(of), [[-1], [-1], [0]]);
});

test('words are found whatever their case and line breaks, and letters whose lower case is longer move none', () => {
  assert.deepEqual(plain(placesOf('İİİ abc', 'ABC')), [[4, 7]]);
  assert.deepEqual(plain(placesOf('in İstanbul', 'istanbul')), [[3, 11]]);
  assert.deepEqual(plain(placesOf('seal\nfailed; 🚀 Seal failed', 'seal failed')), [[0, 11], [16, 27]]);
  assert.deepEqual(plain(placesOf('abc', 'abcd')), []);
});

test('passages are matched by themselves first and else by the text they share', () => {
  setData(data());
  assert.deepEqual(plain(matched([[0, 1, 3, 5]], [[4, 1, 5]])), [0, 1, -1, 2]);
  assert.deepEqual(plain(matched([[0]], null)), [-1]);
});

test('evidence is counted where it is earned, and grade 0 is none', () => {
  setData(data());
  const a = [[1, 3], [], [4, 1], []];
  const b = [[0, 3], [], [1, 1], []];
  assert.deepEqual(plain(sharedEvidence(0, a, b)), { both: 1, a: 1, b: 0, neither: 0 });
});

test('a span is in the text of its parser alone, and counted there', () => {
  setData(data());
  const span = [0, 90, 140, 4];
  assert.equal(isInText(span, 1), true);
  assert.equal(shareText(0, 1), true);
  const read = data();
  read.detail.parsers = { settings: ['pypdf', 'pypdfium2', 'pypdf'], documents: ['pypdf', 'pypdfium2'] };
  read.detail.evidence[0].push([1, 0, 50, 4]);
  setData(read);
  assert.deepEqual([0, 1].map((setting) => isInText(span, setting)), [true, false]);
  assert.deepEqual([1, 2].map((other) => shareText(0, other)), [false, true]);
  const found = [[1, 3], [], [4, 1], []];
  assert.deepEqual(plain(sharedEvidence(0, found, found, 0)), { both: 2, a: 0, b: 0, neither: 0 });
  assert.deepEqual(plain(sharedEvidence(0, found, found, 1)), { both: 0, a: 0, b: 0, neither: 1 });
});

test('breaks of long lines of prose are soft, those of tables, headings and paragraphs stay', () => {
  const prose = 'The company employs people at many plants, and most of them work';
  const table = 'Total revenues 25,125 24,020 22,100 21,000 19,875 18,000 17,250 16,500';
  const text = Array.from(`Heading\n${prose}\nin the north.\n${table}\nnext\n${prose}\n\nend`);
  const soft = plain([...softBreaks(text)]);
  assert.deepEqual(soft, ['Heading\n'.length + prose.length]);
});

test('characters that print nothing are known, tabs and line breaks are not among them', () => {
  assert.deepEqual(['\u007f', '\u0000', '\u0085', '\t', '\n', 'a', 'é', '𝔘'].map((letter) => isControl(letter)), [true, true, true, false, false, false, false, false]);
});
