/**
 * A number as a log would print it: Python's format language, as far as a plan may use it (8.6).
 *
 * JavaScript's toFixed and toExponential round halves up, and Python rounds them to even; so digits
 * are taken from the exact value of the float, as an integer over a power of two.
 */
(function (repropack) {
  "use strict";

  const { Float } = repropack.canonical;
  const FORMAT = /^([+ -]?)([0-9]{0,2})(?:\.([0-9]{1,2}))?([eEfFgG])$/;

  /** A finite float, not below 0, as numerator and denominator. */
  function ratio(value) {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    const bits = view.getBigUint64(0);
    const power = Number(bits >> 52n) & 0x7ff;
    const fraction = bits & 0xfffffffffffffn;
    const whole = power ? fraction | 0x10000000000000n : fraction;
    const exponent = (power || 1) - 1075;
    return exponent < 0 ? [whole, 1n << BigInt(-exponent)] : [whole << BigInt(exponent), 1n];
  }

  /** numerator / denominator as a whole number, halves to even. */
  function nearest(numerator, denominator) {
    const whole = numerator / denominator;
    const twice = 2n * (numerator - whole * denominator);
    if (twice > denominator || (twice === denominator && whole & 1n)) return whole + 1n;
    return whole;
  }

  /** The digits of value with `places` behind the first, and the power of ten of the first. */
  function scientific(value, places) {
    if (value === 0) return ["0".repeat(places + 1), 0];
    const [numerator, denominator] = ratio(value);
    let power = Number(value.toExponential().split("e")[1]);
    for (;;) {
      const shift = BigInt(places - power);
      const digits = shift >= 0n
        ? nearest(numerator * 10n ** shift, denominator)
        : nearest(numerator, denominator * 10n ** -shift);
      const text = String(digits);
      if (text.length === places + 1) return [text, power];
      power += text.length > places + 1 ? 1 : -1; // 9.99 became 10.0
    }
  }

  function fixed(value, places) {
    const [numerator, denominator] = ratio(value);
    const text = String(nearest(numerator * 10n ** BigInt(places), denominator)).padStart(places + 1, "0");
    return places ? `${text.slice(0, -places)}.${text.slice(-places)}` : text;
  }

  function exponential(digits, power) {
    const point = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
    return `${point}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }

  function general(value, places) {
    const [digits, power] = scientific(value, Math.max(places, 1) - 1);
    const shown = digits.replace(/0+$/, "") || "0";
    if (power < -4 || power >= Math.max(places, 1)) return exponential(shown, power);
    if (power < 0) return `0.${"0".repeat(-1 - power)}${shown}`;
    const whole = shown.padEnd(power + 1, "0");
    const rest = whole.slice(power + 1);
    return whole.slice(0, power + 1) + (rest && `.${rest}`);
  }

  /**
   * Python's `format(number, spec)`.
   * @param {number} number
   * @param {string} spec such as .4f
   * @returns {string|null} null where the spec is none of the format's
   */
  function format(number, spec) {
    const [, sign, width, precision, type] = FORMAT.exec(spec) ?? [];
    if (type === undefined) return null;
    const places = precision === undefined ? 6 : Number(precision);
    const value = Math.abs(number);
    const negative = number < 0 || Object.is(number, -0);
    let text;
    if (!Number.isFinite(value)) text = Number.isNaN(value) ? "nan" : "inf";
    else if (type === "f" || type === "F") text = fixed(value, places);
    else if (type === "e" || type === "E") text = exponential(...scientific(value, places));
    else text = general(value, places);
    if (type === type.toUpperCase()) text = text.toUpperCase();
    const before = negative ? "-" : sign === "-" ? "" : sign;
    const missing = Math.max(0, Number(width || 0) - before.length - text.length);
    if (!width.startsWith("0")) return `${" ".repeat(missing)}${before}${text}`;
    return `${before}${"0".repeat(missing)}${text}`;
  }

  /**
   * A metric as it is printed: an encoded number (2.4) by a plan's format.
   * @param {any} metric
   * @param {string} spec
   * @returns {string|null} null where the spec is none of the format's
   */
  function printMetric(metric, spec) {
    if (metric instanceof Float) return format(metric.value, spec);
    if (typeof metric === "number") return format(metric, spec);
    if ("$int" in metric) return format(Number(metric.$int), spec);
    const text = metric.$float;
    return format(text.startsWith("nan") ? NaN : text === "inf" ? Infinity : -Infinity, spec);
  }

  repropack.printed = { format, printMetric };
})((globalThis.repropack ??= {}));
