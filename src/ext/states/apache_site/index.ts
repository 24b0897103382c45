// State module `apache_site`: enabled and disabled sites of Apache.
import { defineState, needsFunction } from 'halite/sdk';
import { switches } from '../shared/apache.ts';

export default defineState({
  name: 'apache_site',
  doc: 'Enabled and disabled sites of Apache.',
  available: needsFunction('apache.a2ensite', 'apache module could not be loaded'),
  functions: switches('site'),
});
