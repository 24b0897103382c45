// State module `apache_module`: enabled and disabled modules of Apache.
import { defineState, needsFunction } from 'halite/sdk';
import { switches } from '../shared/apache.ts';

export default defineState({
  name: 'apache_module',
  doc: 'Enabled and disabled modules of Apache.',
  available: needsFunction('apache.a2enmod', 'apache module could not be loaded'),
  functions: switches('module'),
});
