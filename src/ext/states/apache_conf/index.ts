// State module `apache_conf`: enabled and disabled configuration snippets of Apache.
import { defineState, needsFunction } from 'halite/sdk';
import { switches } from '../shared/apache.ts';

export default defineState({
  name: 'apache_conf',
  doc: 'Enabled and disabled configuration snippets of Apache.',
  available: needsFunction('apache.a2enconf', 'apache module could not be loaded'),
  functions: switches('conf'),
});
