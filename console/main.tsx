// The console starts here.
import '@preact/signals';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { sessionLost } from './api/http.ts';
import { whoAmI } from './api/session.ts';
import { App } from './app.tsx';
import { startKeys } from './state/keys.ts';
import { startSettings } from './state/settings.ts';
import './style/main.css';

startSettings();
startKeys();
// An answer that says "not logged in" is checked once: the session may have expired, or been revoked.
effect(() => {
  if (sessionLost.value > 0) void whoAmI();
});
void whoAmI();
const root = document.getElementById('app');
if (root) render(<App />, root);
