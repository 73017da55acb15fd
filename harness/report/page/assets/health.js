// The health of the chunks, and the documents they come from.

// Counts as "3 40 12", or with their bins as "16:3 32:40"; anything else draws nothing.
function histogramOf(cell) {
  if (!cell) return [];
  const pairs = [...cell.matchAll(/(-?[\d.]+)\s*[:=]\s*(\d+)/g)];
  if (pairs.length) return pairs.map((match) => Number(match[2]));
  return (cell.match(/\d+/g) || []).map(Number);
}

function spark(counts) {
  if (counts.length < 2) return NONE;
  const top = Math.max(...counts, 1);
  const width = 96 / counts.length;
  return g('svg.spark', { width: 96, height: 22, role: 'img', 'aria-label': 'distribution of chunk lengths' },
    counts.map((n, k) => n > 0 && g('rect', { x: k * width, width: Math.max(width - 0.6, 0.8), y: 22 - Math.max(1.5, (20 * n) / top), height: Math.max(1.5, (20 * n) / top) })));
}

function healthRows() {
  if (DATA.chunks) return DATA.chunks;
  return DATA.settings.map((name, setting) => {
    const own = DATA.by_setting[name];
    return own && { setting, chunks: own.chunks, tokens_p5: own.tokens_p5, tokens_p50: own.tokens_p50, tokens_p95: own.tokens_p95, tokens_max: own.tokens_max, index_tokens: own.tokens };
  }).filter(Boolean);
}

const HEALTH = {
  chunks: ['chunks', 'number of chunks', whole],
  tokens_mean: ['mean', 'tokens per chunk, mean', amount],
  tokens_p5: ['5 %', 'tokens: 5 % of chunks are shorter', whole],
  tokens_p50: ['median', 'tokens per chunk, median', whole],
  tokens_p95: ['95 %', 'tokens: 5 % of chunks are longer', whole],
  tokens_max: ['max', 'tokens in the longest chunk', whole],
  share_under_32: ['under 32', 'share of chunks with fewer than 32 tokens', (x) => percent(x, 1)],
  share_overlong: ['too long', 'share of chunks longer than the encoder reads', (x) => percent(x, 1)],
  share_cut_mid_sentence: ['cut mid-sentence', 'share of chunks that end within a sentence', (x) => percent(x, 1)],
  tables_cut: ['tables cut', 'tables cut apart', whole],
  share_covered_twice: ['twice', 'share of the text that is in more than one chunk', (x) => percent(x, 1)],
  index_tokens: ['index tokens', 'tokens in the index', whole],
};

section({
  id: 'health',
  title: 'Chunks',
  on: [],
  render() {
    const rows = healthRows();
    if (!rows.length) return null;
    const keys = Object.keys(HEALTH).filter((key) => rows.some((row) => known(row[key])));
    const drawn = rows.some((row) => histogramOf(row.histogram).length > 1);
    return [
      h('p.lede', null, `Lengths in tokens of the encoder.${DATA.chunks ? '' : ' This folder has no chunks.csv, so only lengths are known.'}`),
      table([
        settingColumn((r) => r.setting),
        ...(drawn ? [{ key: 'histogram', title: 'lengths', cell: (r) => spark(histogramOf(r.histogram)), file: (r) => r.histogram }] : []),
        ...keys.map((key) => ({ key, title: HEALTH[key][0], about: HEALTH[key][1], num: true, value: (r) => r[key], cell: (r) => HEALTH[key][2](r[key]) })),
      ], rows, { caption: 'Chunks by setting', keep: 'health', most: 30 }),
    ];
  },
});
