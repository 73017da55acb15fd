// Numbers as people read them; a missing one is a dash, never a zero.

const MINUS = '\u2212';
const NONE = '–';

function known(value) {
  return value !== null && value !== undefined && !Number.isNaN(value);
}

// Half goes to the even figure, as in the sentences that Python writes: toFixed takes the larger one.
function rounded(value, digits) {
  const text = value.toFixed(digits);
  const odd = Number(text.at(-1)) % 2 === 1;
  const half = /^50*$/.test(value.toFixed(digits + 30).slice(digits ? text.length : text.length + 1));
  return odd && half ? (value - 0.1 ** (digits + 1)).toFixed(digits) : text;
}

function fixed(value, digits = 3) {
  if (!known(value)) return NONE;
  const text = rounded(Math.abs(value), digits);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}

function signed(value, digits = 3) {
  if (!known(value)) return NONE;
  const text = fixed(value, digits);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

function percent(value, digits = 0) {
  return known(value) ? `${rounded(100 * value, digits)}%` : NONE;
}

// A level of confidence, such as 95% or 99.9%.
function confidence(level) {
  return `${Number((100 * level).toPrecision(6))}%`;
}

function whole(value) {
  return known(value) ? Math.round(value).toLocaleString('en-US') : NONE;
}

function amount(value) {
  if (!known(value)) return NONE;
  const size = Math.abs(value);
  if (size >= 1000) return whole(value);
  if (size >= 10 || Number.isInteger(value)) return fixed(value, size >= 100 || Number.isInteger(value) ? 0 : 1);
  return fixed(value, size >= 1 ? 2 : 3);
}

function seconds(value) {
  if (!known(value)) return NONE;
  return `${amount(value)} s`;
}

function range(low, high, digits = 3) {
  return known(low) && known(high) ? `${fixed(low, digits)} to ${fixed(high, digits)}` : NONE;
}

function chance(p) {
  if (!known(p)) return NONE;
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

function count(n, one, many = `${one}s`) {
  return `${whole(n)} ${n === 1 ? one : many}`;
}
