// State module `apache_site`: sites of Apache, on or off.
import { defineState, needsFunction } from 'halite/sdk';
import { switches } from '../shared/apache.ts';

export default defineState({
  name: 'apache_site',
  doc: 'Sites of Apache, on or off.',
  available: needsFunction('apache.a2ensite', 'apache module could not be loaded'),
  functions: switches('site'),
});
