// The text of an iptables rule from named parts, in the order Salt writes it.
import { newDict, oneOrMore, type PlainDict, pyStr, type Value } from 'halite/sdk';

/** Arguments of targets: they must follow the jump. */
const afterJump =
  `j jump add-set and-mark and-tos checksum-fill clamp-mss-to-pmtu clustermac ctevents ctmask del-set ecn-tcp-remove
  exist expevents gateway hash-init hashmode helper label local-node log-ip-options log-level log-prefix
  log-tcp-options log-tcp-sequence log-uid mask new nfmask nflog-group nflog-prefix nflog-range nflog-threshold nodst
  notrack on-ip on-port or-mark or-tos persistent queue-balance queue-bypass queue-num random rateest-ewmalog
  rateest-interval rateest-name reject-with restore restore-mark save-mark selctx set-class set-dscp set-dscp-class
  set-mark set-mss set-tos set-xmark strip-options timeout to to-destination to-ports to-source total-nodes
  tproxy-mark ttl-dec ttl-inc ttl-set type ulog-cprange ulog-nlgroup ulog-prefix ulog-qthreshold xor-mark xor-tos zone
  dst-pfx hl-dec hl-inc hl-set hmark-dport-mask hmark-dst-prefix hmark-mod hmark-offset hmark-proto-mask hmark-rnd
  hmark-spi-mask hmark-sport-mask hmark-src-prefix hmark-tuple led-always-blink led-delay led-trigger-id
  queue-cpu-fanout src-pfx to-port addr and-mask delude honeypot or-mask prefix reset reuse set-mac shift static tarpit
  tname ttl`.split(/\s+/);

const isNegated = (text: string): boolean => text.startsWith('!') || text.startsWith('not');
const positive = (text: string): string => text.replaceAll(/(!|not)\s?/g, '');

/** The parts that are not written yet. */
class Parts {
  readonly rule: string[] = [];
  readonly given: Map<string, Value>;

  constructor(given: PlainDict) {
    this.given = new Map(Object.entries(given));
  }

  has(key: string): boolean {
    return this.given.has(key);
  }

  take(key: string): Value {
    const value = this.given.get(key) ?? null;
    this.given.delete(key);
    return value;
  }

  /** `! --flag value`, when it was given. */
  flag(key: string, flag: string): void {
    if (!this.has(key)) return;
    const text = pyStr(this.take(key));
    this.rule.push(isNegated(text) ? `! ${flag} ${positive(text)}` : `${flag} ${text}`);
  }

  /** `-m module`, once. */
  module(name: string): void {
    if (!this.rule.includes(`-m ${name}`)) this.rule.push(`-m ${name}`);
  }
}

function addMatches(parts: Parts): void {
  const isPolicy = parts.given.get('match') === 'policy';
  if (parts.has('match')) {
    const value = parts.take('match');
    for (const match of Array.isArray(value) ? value.map(pyStr) : pyStr(value).split(',')) {
      parts.rule.push(`-m ${match}`);
      if (parts.has('name_') && ['pknock', 'quota2', 'recent'].includes(match.trim()))
        parts.rule.push(`--name ${pyStr(parts.take('name_'))}`);
    }
    if (isPolicy) parts.flag('proto', '--proto');
  }
  if (!parts.has('match-set')) return;
  const sets = parts.take('match-set');
  for (const item of Array.isArray(sets) ? sets.map(pyStr) : [pyStr(sets)])
    parts.rule.push(`-m set ${isNegated(item) ? '! ' : ''}--match-set ${isNegated(item) ? positive(item) : item}`);
}

/** Several ports; false when the protocol they belong to is missing. */
function addPorts(parts: Parts, hasProtocol: boolean): boolean {
  for (const key of ['dports', 'sports']) {
    if (!parts.has(key)) continue;
    if (!parts.rule.includes('-m multiport') && !hasProtocol) return false;
    parts.module('multiport');
    const value = parts.take(key);
    const ports = oneOrMore(value).map(pyStr);
    const negated = ports.some(isNegated);
    if (negated) parts.rule.push('!');
    parts.rule.push(`--${key} ${(negated ? ports.map(positive) : ports).join(',')}`);
  }
  return true;
}

function targetParts(parts: Parts): string[] {
  return afterJump
    .filter((key) => parts.has(key))
    .map((key) => {
      const value = parts.take(key);
      if (value === null || value === '') return `--${key}`;
      return /\s/.test(pyStr(value)) ? `--${key} "${pyStr(value)}"` : `--${key} ${pyStr(value)}`;
    });
}

/** Arguments of the state or the command, not of the rule. */
const around = ['name', 'state', 'chain', 'save', 'table'];

/** The rule without command, table and chain. Text that begins with `Error:` when parts do not fit together. */
export function ruleText(given: PlainDict): string {
  const parts = new Parts(newDict(Object.entries(given).filter(([key]) => !around.includes(key) && !/^__/.test(key))));
  if (parts.has('target')) parts.given.set('jump', parts.take('target'));
  parts.flag('if', '-i');
  parts.flag('of', '-o');
  if (parts.has('proto') && parts.given.get('match') !== 'policy') parts.given.set('protocol', parts.take('proto'));
  const hasProtocol = parts.has('protocol');
  parts.flag('protocol', '-p');
  addMatches(parts);
  if (parts.has('connstate')) parts.module('state');
  parts.flag('connstate', '--state');
  parts.flag('dport', '--dport');
  parts.flag('sport', '--sport');
  if (!addPorts(parts, hasProtocol)) return 'Error: protocol must be specified';
  if (parts.has('comment')) {
    parts.module('comment');
    parts.rule.push(`--comment "${pyStr(parts.take('comment'))}"`);
  }
  if (parts.given.get('set')) parts.flag('set', '--match-set');
  const target = targetParts(parts);
  for (const [key, value] of parts.given) {
    const text = value === null ? '' : pyStr(value);
    const negated = isNegated(text);
    const shown = negated ? positive(text) : text;
    parts.rule.push(`${negated ? '! ' : ''}${key.length === 1 ? '-' : '--'}${key}${shown === '' ? '' : ` ${shown}`}`);
  }
  return [...parts.rule, ...target].join(' ');
}
