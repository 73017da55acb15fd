import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, plain } from './load.mjs';

const { foundAt, matched, sharedEvidence, softBreaks, isControl, setData } = load(
  ['foundAt', 'matched', 'sharedEvidence', 'softBreaks', 'isControl'],
  ['format.js', 'data.js', 'scale.js', 'passages.js', 'beside.js']);

// chunks 0 to 3 cut document 0 by 100 characters; chunk 4 is 50 to 150; chunk 5 is of another document
function data() {
  return {
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
