// Authentication module `pki`: the client has a certificate of a known authority, and has proven over TLS, to salt-api,
// that it holds the key.
import { X509Certificate } from 'node:crypto';
import { defineAuth, HaliteError, p } from 'halite/sdk';
import { readFile } from 'halite/sdk/fs';
import { checkChain, type NamePlace, nameIn, namePlaces, readCertificates } from './shared/certificate-chain.ts';

const isPlace = (text: string): text is NamePlace => (namePlaces as readonly string[]).includes(text);

async function authoritiesOf(file: string): Promise<X509Certificate[]> {
  const found = readCertificates(await readFile(file, 'utf8'));
  if (found.length === 0) throw new HaliteError('config.value', `external_auth: pki: ${file} has no certificate`);
  return found;
}

export default defineAuth({
  name: 'pki',
  doc: 'A client certificate on a TLS connection of salt-api, never one as a password. The name of the user is in it.',
  settings: {
    ca_file: p.path({ doc: 'the certificates of the authorities, in PEM' }),
    crl_file: p.path({ default: '', doc: 'read by salt-api: revoked certificates of all these authorities, in PEM' }),
    name: p.string({ default: 'cn', doc: `where the name of the user is: ${namePlaces.join(', ')}` }),
  },
  async open({ ca_file: file, name: place }) {
    if (!isPlace(place))
      throw new HaliteError('config.value', `external_auth: pki: ^name must be one of ${namePlaces.join(', ')}`);
    await authoritiesOf(file);
    return {
      async check({ username, certificate }) {
        if (!certificate)
          throw new HaliteError('auth.failed', 'only a TLS connection of salt-api proves who a certificate belongs to');
        const chain = certificate.map((der) => new X509Certificate(der));
        // Read again: authorities change while the master runs.
        checkChain(chain, await authoritiesOf(file));
        const name = nameIn(chain[0]!, place);
        if (username !== '' && username !== name)
          throw new HaliteError('auth.failed', 'the certificate is of another user');
        return { username: name };
      },
    };
  },
});
