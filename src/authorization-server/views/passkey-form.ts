import { createHash } from 'node:crypto';
import type { Texts } from '../texts/texts.ts';
import { type Markup, markup, trustedMarkup } from './markup.ts';

/** A form that a browser fills in with a passkey. */
export interface PasskeyForm {
  action: string;
  csrf: string;
  /** Options for `navigator.credentials`, JSON. */
  options: string;
}

/**
 * The one script there is: it asks the browser for a passkey and posts what comes of it. Without it the forms stay
 * hidden and the pages work with passwords.
 */
const script = `(() => {
  const api = globalThis.PublicKeyCredential;
  if (!api?.parseRequestOptionsFromJSON || !api.parseCreationOptionsFromJSON) return;
  for (const hint of document.querySelectorAll('[data-without-passkeys]')) hint.hidden = true;
  for (const form of document.querySelectorAll('form[data-passkey]')) {
    const options = JSON.parse(form.dataset.options);
    const problem = form.querySelector('[role=alert]');
    const button = form.querySelector('button');
    form.hidden = false;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      button.disabled = true;
      problem.hidden = true;
      try {
        const credential = form.dataset.passkey === 'create'
          ? await navigator.credentials.create({ publicKey: api.parseCreationOptionsFromJSON(options) })
          : await navigator.credentials.get({ publicKey: api.parseRequestOptionsFromJSON(options) });
        form.elements.credential.value = JSON.stringify(credential);
        form.submit();
      } catch {
        problem.hidden = false;
        button.disabled = false;
      }
    });
  }
})();`;

/** Content security policy source for a page with such a form: this script and no other (CSP Level 3 section 8.3). */
export const passkeyScriptSource = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

function renderForm(
  texts: Texts,
  { action, csrf, options }: PasskeyForm,
  kind: 'create' | 'get',
  content: Markup,
): Markup {
  return markup`<form method="post" action="${action}" data-passkey="${kind}" data-options="${options}" hidden>
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="credential" value="">
<div class="notice problem" role="alert" hidden><p>${texts.account.passkeys.refused}</p></div>
${content}
</form>
<script>${trustedMarkup(script)}</script>`;
}

/** The form of a login with a passkey. Posts `csrf` and `credential`. @returns markup that stays hidden without script */
export function renderPasskeyLogin(texts: Texts, form: PasskeyForm): Markup {
  const words = texts.account.login;
  return renderForm(
    texts,
    form,
    'get',
    markup`<button type="submit">${words.passkey}</button>
<p class="muted or">${words.orPassword}</p>`,
  );
}

/** Longest name of a passkey, in characters. */
export const maxPasskeyName = 60;

/**
 * A field for the name of a passkey.
 * @param value what stands in it
 */
export function passkeyNameField(label: string, value: string): Markup {
  return markup`<div class="field"><label for="name">${label}</label>
<input id="name" name="name" maxlength="${String(maxPasskeyName)}" required value="${value}"></div>`;
}

/**
 * The form that registers a passkey. Posts `csrf`, `name` and `credential`.
 * @param form `name` is suggested
 * @returns markup that stays hidden without script
 */
export function renderPasskeyRegistration(texts: Texts, form: PasskeyForm & { name: string }): Markup {
  const words = texts.account.passkeys;
  return renderForm(
    texts,
    form,
    'create',
    markup`${passkeyNameField(words.nameOfNew, form.name)}
<button class="primary" type="submit">${words.add}</button>`,
  );
}
