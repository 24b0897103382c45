// State module `apache_module`: modules of Apache, on or off.
import { defineState, needsFunction } from 'halite/sdk';
import { switches } from '../shared/apache.ts';

export default defineState({
  name: 'apache_module',
  doc: 'Modules of Apache, on or off.',
  available: needsFunction('apache.a2enmod', 'apache module could not be loaded'),
  functions: switches('module'),
});
