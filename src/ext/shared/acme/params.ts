// What a certificate of an ACME authority is asked for with.
import { p } from 'halite/sdk';

const any = (doc: string) => p.any({ default: null, doc });
/** What both the function and the state `acme.cert` take. */
export const certParams = {
  name: p.string({ doc: 'the first name in the certificate' }),
  aliases: any('list of further names'),
  email: any('address for notices'),
  webroot: any('folder of the web site; true when certbot knows it'),
  test_cert: p.bool({ default: false, doc: 'from the servers for tests' }),
  renew: any('true, or days before its end'),
  keysize: any('size of the key'),
  server: any('another authority'),
  owner: p.string({ default: 'root', doc: 'owner of the key' }),
  group: p.string({ default: 'root', doc: 'group of the key' }),
  mode: p.any({ default: '0640', doc: 'mode of the key' }),
  certname: any('name of the certificate'),
  preferred_challenges: any('http or dns'),
  tls_sni_01_port: any('no longer used'),
  tls_sni_01_address: any('no longer used'),
  http_01_port: any('port certbot listens on'),
  http_01_address: any('address certbot listens on'),
  dns_plugin: any('cloudflare'),
  dns_plugin_credentials: any('file for the plugin'),
  dns_plugin_propagate_seconds: p.any({ default: 10, doc: 'how long names take' }),
};
