// Creates certificates: with a key of this minion, by a signing minion, and for another minion that requests one.
import {
  commandError,
  invocationError,
  type ModuleContext,
  messageOf,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { planCertificate, signCertificate } from '../../shared/x509/build.ts';
import {
  bytesOf,
  loadCertificate,
  loadPrivateKey,
  loadPublicKey,
  pemBody,
  publicDer,
  toPem,
} from '../../shared/x509/load.ts';
import { askSigner, ownPolicy, shortened, withPolicy } from '../../shared/x509/policy.ts';

/** A regular expression for PEM's names of a request. */
export const requestLabel = '(?:NEW )?CERTIFICATE REQUEST';

interface CertRequest {
  readonly ca_server: Value;
  readonly signing_policy: Value;
  readonly kwargs: PlainDict;
}

/** A certificate signed with the local key, or by the signing minion. */
export async function makeCertificate(args: CertRequest, ctx: ModuleContext): Promise<Buffer> {
  const given = shortened(args.kwargs);
  if (given['days_valid'] === undefined && given['not_after'] === undefined) given['days_valid'] = 365;
  if (!args.ca_server) {
    const all = withPolicy(await ownPolicy(args.signing_policy, ctx), given);
    if (!all['signing_private_key'])
      throw invocationError('Creating a certificate locally at least requires a signing private key.');
    return signCertificate(planCertificate(all), all['digest'] ?? 'sha256');
  }
  if (args.signing_policy === null)
    throw invocationError('signing_policy must be specified to request a certificate from a remote ca_server');
  const { private_key, private_key_passphrase, ...rest } = given as PlainDict & Record<string, Value>;
  const key = private_key
    ? publicDer(loadPrivateKey(private_key, private_key_passphrase ?? null))
    : rest['public_key']
      ? publicDer(loadPublicKey(rest['public_key']))
      : undefined;
  const csr = rest['csr'] ? pemBody(bytesOf(rest['csr']), requestLabel) : undefined;
  const asked = newDict([
    ...Object.entries(rest as PlainDict),
    ...(key ? [['public_key', key.toString('base64')] as [string, Value]] : []),
    ...(csr ? [['csr', csr.toString('base64')] as [string, Value]] : []),
  ]);
  const data = await askSigner(args.ca_server, args.signing_policy, asked, false, ctx);
  try {
    return loadCertificate(data).raw;
  } catch {
    throw commandError(`ca_server did not return a certificate: ${pyStr(data)}`);
  }
}

/** Handles a request of another minion: checks whether it is allowed, and signs the certificate. */
export async function signForOther(
  policyName: Value,
  asked: PlainDict,
  onlyPolicy: boolean,
  who: Value,
  ctx: ModuleContext,
) {
  const answer = (data: Value, errors: string[]): PlainDict =>
    newDict([
      ['data', data],
      ['errors', errors],
    ]);
  const { minions, ...policy } = await ownPolicy(policyName, ctx);
  if (Object.keys(policy).length === 0)
    return answer(null, ['signing_policy must be specified and defined on signing minion']);
  if (minions !== undefined) {
    if (!who) return answer(null, ['minion sending this request could not be identified']);
    if (!(await ctx.call('match.glob', minions, who)))
      return answer(null, ['minion not permitted to use specified signing policy']);
  }
  try {
    if (onlyPolicy) {
      const { signing_private_key: _key, signing_private_key_passphrase: _phrase, ...open } = policy;
      const cert = open['signing_cert'];
      return answer(
        { ...open, ...(cert ? { signing_cert: toPem(loadCertificate(cert).raw, 'CERTIFICATE') } : {}) },
        [],
      );
    }
    // Only the policy names keys, never the requesting minion.
    const { signing_private_key: _k, signing_cert: _c, private_key: _own, ...harmless } = shortened(asked);
    const all = withPolicy(newDict(Object.entries(policy)), newDict(Object.entries(harmless)));
    return answer(signCertificate(planCertificate(all), all['digest'] ?? 'sha256'), []);
  } catch (error) {
    return answer(null, [messageOf(error)]);
  }
}
