// A certificate in a file: compared with the request, and renewed before it expires.
import { newDict, type PlainDict, type StateContext, type StateResult, textKeyed, type Value } from 'halite/sdk';
import { algorithmFor, planCertificate } from '../../shared/x509/build.ts';
import { certificatesIn, encodingOf, loadCertificate, publicDer, tryCertificate } from '../../shared/x509/load.ts';
import { nameText } from '../../shared/x509/names.ts';
import { shortened, withPolicy } from '../../shared/x509/policy.ts';
import { type Parsed, parseCertificate } from '../../shared/x509/read.ts';
import { currentBytes, extensionChanges, guarded, settle, splitArgs } from './x509-files.ts';

export interface CertificateArgs {
  readonly name: string;
  readonly days_remaining: Value;
  readonly ca_server: Value;
  readonly signing_policy: Value;
  readonly encoding: string;
  readonly append_certs: Value;
  readonly kwargs: PlainDict;
  /** The requested properties of the certificate. */
  readonly wanted: PlainDict;
}

const day = 86_400_000;

/** Properties of a certificate that differ. */
function compare(args: CertificateArgs, all: PlainDict, bytes: Buffer): PlainDict {
  const current = tryCertificate(bytes);
  if (!current) return newDict([['replaced', args.name]]);
  const now = parseCertificate(current.raw);
  const changes = newDict();
  if (encodingOf(bytes) !== args.encoding) changes['encoding'] = args.encoding;
  if (now.notAfter.getTime() < Date.now() + Number(args.days_remaining ?? 90) * day) changes['expiration'] = true;
  const chain = (
    Array.isArray(args.append_certs) ? args.append_certs : args.append_certs ? [args.append_certs] : []
  ).map(loadCertificate);
  const behind = certificatesIn(bytes).slice(1);
  if (behind.length !== chain.length || behind.some((cert, i) => cert.fingerprint256 !== chain[i]?.fingerprint256))
    changes['additional_certs'] = true;
  return Object.assign(changes, differences(args, all, now, current.verify.bind(current)));
}

function differences(
  args: CertificateArgs,
  all: PlainDict,
  now: Parsed,
  isSignedBy: ReturnType<typeof loadCertificate>['verify'],
): PlainDict {
  const changes = newDict();
  const plan = planCertificate(all, { remote: Boolean(args.ca_server), known: now.serial });
  const signer = plan.issuerKey ?? plan.signingKey;
  const digest = all['digest'] ?? 'sha256';
  if (signer && algorithmFor(signer, digest).oid !== now.signature) changes['digest'] = digest;
  const serial = all['serial_number'] ?? null;
  if (serial !== null && planCertificate(all, { remote: Boolean(args.ca_server) }).serial !== now.serial)
    changes['serial_number'] = serial;
  if (!plan.spki.equals(now.spki)) changes['private_key'] = true;
  if (plan.issuerKey && publicDer(plan.issuerKey).length > 0 && !isSignedBy(plan.issuerKey))
    changes['signing_private_key'] = true;
  if (!plan.subject.equals(now.subject)) changes['subject_name'] = nameText(plan.subject);
  if (!plan.issuer.equals(now.issuer)) changes['issuer_name'] = nameText(plan.issuer);
  const extensions = extensionChanges(now.extensions, plan.extensions);
  if (extensions) changes['extensions'] = extensions;
  return changes;
}

export function certificateManaged(args: CertificateArgs, ctx: StateContext): Promise<StateResult> {
  return guarded(ctx, async () => {
    const { file, rest } = splitArgs(args.kwargs);
    const own = newDict([
      ...Object.entries(args.wanted).filter(([, value]) => value !== null),
      ...Object.entries(shortened(rest)),
    ]);
    if (own['days_valid'] === undefined && own['not_after'] === undefined) own['days_valid'] = 365;
    const { bytes, linked } = currentBytes(args.name, file);
    let changes = newDict([['created', args.name]]);
    if (bytes) {
      const policy = args.signing_policy
        ? textKeyed(await ctx.callWith('x509.get_signing_policy', [args.signing_policy], { ca_server: args.ca_server }))
        : newDict();
      changes = compare(args, withPolicy(policy, own), bytes);
    }
    const { ca_server, signing_policy, encoding, append_certs, name } = args;
    const onlyForm = Object.keys(changes).every((key) => key === 'encoding' || key === 'additional_certs');
    return settle(
      {
        name,
        what: 'certificate',
        file,
        changes,
        exists: bytes !== undefined && tryCertificate(bytes) !== undefined,
        encoding,
        unlink: linked,
        make: () =>
          onlyForm && bytes
            ? ctx.callWith('x509.encode_certificate', [bytes], { encoding, append_certs })
            : ctx.callWith('x509.create_certificate', [], {
                ...own,
                ca_server,
                signing_policy,
                encoding,
                append_certs,
              }),
      },
      ctx,
    );
  });
}
