// State module `apache_site`: sites of Apache, on or off.
import { defineState } from 'halite/sdk';
import { needsFunction } from '../../modules/support/needs.ts';
import { switches } from '../support/apache.ts';

export default defineState({
  name: 'apache_site',
  doc: 'Sites of Apache, on or off.',
  available: needsFunction('apache.a2ensite', 'apache module could not be loaded'),
  functions: switches('site'),
});
