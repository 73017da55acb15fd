import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { boardColumns, documentsRead, documentsTitle, queriesTold, setData, state } = load(
  ['boardColumns', 'documentsRead', 'documentsTitle', 'queriesTold'],
  ['format.js', 'data.js', 'scale.js', 'names.js', 'table.js', 'rows.js', 'save.js', 'answer.js', 'board.js', 'histograms.js', 'origin.js']);

test('what was judged and what failed are of the queries that are shown', () => {
  const row = (mean, failed = 0) => [mean, null, null, 9, 0, failed];
  setData({
    measures: ['ndcg_exp@10', 'judged@10'], settings: ['a'], stages: ['retrieve'], scores: [[[[1]]], [[[1]]]], factors: [], statistics: {}, level: 0.95,
    summary: { all: [[[row(0.5, 3)]], [[row(0.9, 3)]]], validation: [[[row(0.2, 1)]], [[row(0.4, 1)]]] },
  });
  const shown = (split) => {
    state.split = split;
    const columns = boardColumns(0, [0, 1], () => '0%');
    return ['judged', 'failed'].map((key) => columns.find((one) => one.key === key).value(0));
  };
  assert.deepEqual([shown('all'), shown('validation')], [[0.9, 3], [0.4, 1]]);
  state.split = 'all';
});

test('a document that two parsers read is one document', () => {
  const documents = ['pypdf', 'pypdfium2'].map((parser) => ({ document: `a@${parser}`, status: 'read' }));
  setData({ documents, counts: { documents: 1, documents_skipped: 0 }, detail: { parsers: { settings: ['pypdf', 'pypdfium2', ''] } } });
  assert.deepEqual([documentsRead(), documentsTitle()], [1, '1, read by 2 parsers']);
  setData({ documents: [{ status: 'read' }, { status: 'skipped' }], counts: {}, detail: {} });
  assert.deepEqual([documentsRead(), documentsTitle()], [1, '2']);
});

test('bars that are of other queries than those chosen say so', () => {
  const told = (split, drilled) => {
    state.split = split;
    setData({ detail: { drilled } });
    return queriesTold();
  };
  assert.equal(told('all'), '');
  assert.match(told('train'), /over all queries/);
  assert.match(told('train', [1, 2]), /of the 2 queries whose rankings are on this page/);
  state.split = 'all';
});

test('a warning that bears on the measure is told once, and unjudged text by the bound of that measure', () => {
  const { sections, setData, state } = load(['prose'], ['format.js', 'data.js', 'scale.js', 'names.js', 'rows.js', 'terms.js', 'glance.js', 'answer.js', 'judged.js']);
  state.measure = 'ndcg_evidence@5000';
  const lines = ['decision', 'test', 'warning'].map((role) => ({ role, label: role, text: `The ${role}.` }));
  const judged = { measure: 'judged_text@5000', bound: 'ndcg_evidence_upper@5000' };
  setData({ settings: [], measures: ['judged_text@5000'], queries: { id: ['q1'] }, warnings: ['The warning.', 'Another.'], notes: [], missing: [], statistics: { 'ndcg_evidence@5000': { verdict: { lines, judged } } } });
  assert.equal(sections.method.render()[0].textContent, 'testThe test.WarningThe warning.WarningAnother.');
  assert.match(sections.judged.render()[0].textContent, /The line runs from ndcg_evidence@5000 as reported/);
});
