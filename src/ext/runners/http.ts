// Runner `http`: requests of the master itself to web servers.
import { defineRunner } from 'halite/sdk';
import { asModule } from './shared/as-module.ts';

export default defineRunner({
  name: 'http',
  doc: 'Requests to web servers, from the master.',
  functions: {
    query: asModule(
      'http.query',
      'Asks an address; arguments are those of the execution function `http.query`.',
      'salt-run http.query http://example.com/ status=True',
    ),
    update_ca_bundle: asModule(
      'http.update_ca_bundle',
      'Fetches a bundle of certificates of authorities into a local file.',
      'salt-run http.update_ca_bundle target=/path/to/cacerts.pem',
    ),
  },
});
