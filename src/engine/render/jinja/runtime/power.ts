// x ** y on doubles, correctly rounded: the engine's own result is sometimes one unit off C's pow().

const bits = 192n;
const one = 1n << bits;

/** A double as mantissa and power of two, exactly. */
function split(value: number): [bigint, number] {
  let exponent = 0;
  let mantissa = value;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent -= 1;
  }
  return [BigInt(mantissa), exponent];
}

/** ln of a fixed-point number near one, by the series of atanh. */
function logNearOne(value: bigint): bigint {
  const z = ((value - one) << bits) / (value + one);
  const square = (z * z) >> bits;
  let term = z;
  let sum = 0n;
  for (let n = 1n; term !== 0n && n < 400n; n += 2n) {
    sum += term / n;
    term = (term * square) >> bits;
  }
  return sum * 2n;
}

const ln2 = logNearOne(one + one / 3n) + logNearOne(one + one / 2n);

function logOf(value: number): bigint {
  let power = 0;
  let m = value;
  while (m >= 1.5) {
    m /= 2;
    power += 1;
  }
  while (m < 0.75) {
    m *= 2;
    power -= 1;
  }
  const [mantissa, exponent] = split(m);
  return logNearOne((mantissa << bits) >> BigInt(-exponent)) + BigInt(power) * ln2;
}

function exponential(value: bigint): [bigint, number] {
  const power = Number((value * 2n + ln2) / (ln2 * 2n)) - (value < -ln2 / 2n ? 1 : 0);
  const rest = value - BigInt(power) * ln2;
  let term = one;
  let sum = 0n;
  for (let n = 1n; term !== 0n && n < 400n; n += 1n) {
    sum += term;
    term = (term * rest) / (n << bits);
  }
  return [sum, power];
}

/** `x ** y` for a positive base. */
function positivePower(x: number, y: number): number {
  const [mantissa, exponent] = split(y);
  const scaled = logOf(x) * mantissa;
  const [value, power] = exponential(scaled >> BigInt(-exponent));
  return Number(value) * 2 ** -96 * 2 ** (power - 96);
}

/** `x ** y` where the result is real. */
export function floatPower(x: number, y: number): number {
  const quick = x ** y;
  // Small whole results are already exact; zero, infinity and extreme values need no second computation.
  if (!Number.isFinite(quick) || Number.isSafeInteger(quick) || Math.abs(quick) < 1e-290 || Math.abs(quick) > 1e290)
    return quick;
  if (Math.abs(y) > 1e6) return quick;
  const size = positivePower(Math.abs(x), y);
  return quick < 0 ? -size : size;
}
