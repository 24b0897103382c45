// The parameters of a request for an ACME certificate.
import { p } from 'halite/sdk';

/** The parameters of both the function and the state `acme.cert`. */
export const certParams = {
  name: p.string({ doc: 'the first name in the certificate' }),
  aliases: p.strings({ default: null, split: ',', falsy: null, doc: 'list of further names' }),
  email: p.string({ default: null, falsy: null, doc: 'address for notices' }),
  webroot: p.oneOf(['bool', 'string'], {
    default: null,
    falsy: null,
    doc: 'folder of the web site; true when certbot knows it',
  }),
  test_cert: p.bool({ default: false, doc: 'use the test servers' }),
  renew: p.oneOf(['bool', 'string'], { default: null, falsy: null, doc: 'true, or days before it expires' }),
  keysize: p.string({ default: null, falsy: null, doc: 'size of the key' }),
  server: p.string({ default: null, falsy: null, doc: 'another authority' }),
  owner: p.string({ default: 'root', doc: 'owner of the key' }),
  group: p.string({ default: 'root', doc: 'group of the key' }),
  mode: p.string({ default: '0640', doc: 'mode of the key' }),
  certname: p.string({ default: null, doc: 'name of the certificate' }),
  preferred_challenges: p.string({ default: null, falsy: null, doc: 'http or dns' }),
  tls_sni_01_port: p.string({ default: null, falsy: null, doc: 'no longer used' }),
  tls_sni_01_address: p.string({ default: null, falsy: null, doc: 'no longer used' }),
  http_01_port: p.string({ default: null, falsy: null, doc: 'port certbot listens on' }),
  http_01_address: p.string({ default: null, falsy: null, doc: 'address certbot listens on' }),
  dns_plugin: p.string({ default: null, doc: 'cloudflare' }),
  dns_plugin_credentials: p.string({ default: null, doc: 'file for the plugin' }),
  dns_plugin_propagate_seconds: p.string({ default: 10, doc: 'seconds until names are propagated' }),
};
