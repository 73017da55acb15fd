import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { boardColumns, csvOf, noValues, queryColumns, roomFor, setData } = load(
  ['boardColumns', 'csvOf', 'noValues', 'queryColumns', 'roomFor'],
  ['format.js', 'data.js', 'scale.js', 'names.js', 'table.js', 'rows.js', 'save.js', 'heat.js', 'losses.js', 'board.js']);

test('dashes within a text are saved, and a cell that is only a dash is empty', () => {
  const columns = [{ key: 'text', cell: (text) => text }];
  assert.equal(csvOf(columns, ['2019–2020 figures', '–']), 'text\n2019–2020 figures\n\n');
});

test('a query is saved in a column for its id, text, type and split each', () => {
  setData({ queries: { id: ['q1'], text: ['Net sales?'], type: ['table'], split: ['train'], answerable: [false] } });
  assert.equal(csvOf(queryColumns(), [{ query: 0 }]), 'query_id,text,type,split,answerable\nq1,Net sales?,table,train,no\n');
});

test('the leader board is saved with the bounds of its intervals and without drawings', () => {
  setData({
    measures: ['ndcg_exp@10'], settings: ['a'], stages: ['retrieve'], scores: [[[[1]]]], factors: [], statistics: {}, level: 0.95,
    summary: { all: [[[[0.5, 0.25, 0.75, 9, 0, 0]]]] },
  });
  assert.equal(csvOf(boardColumns(0, [0, 1], () => '0%'), [0]), 'setting,n,mean,low,high\na,9,0.5,0.25,0.75\n');
  assert.equal(noValues(), false);
});

test('that no query has a value is told from a missing table', () => {
  setData({ measures: ['ndcg_exp@10'], settings: ['a'], stages: ['retrieve'], scores: [[[[null]]]], summary: { all: [[[[null, null, null, 0, 0, 0]]]] } });
  assert.equal(noValues(), true);
});

test('a long name has room in a saved drawing', () => {
  assert.deepEqual([roomFor(['short'], 230), roomFor(['short', 'x'.repeat(60)], 230)], [230, 444]);
});
