import type { Context } from 'koa';
import { errors } from 'oidc-provider';
import type { ArtifactStore, Conflict } from '../../storage/artifacts.ts';
import { answerWithClientRefusal, answerWithErrorPage, isClientRefusal } from '../endpoints/error-page.ts';
import { commitWrites } from '../engine/write-set.ts';
import type { ResourceRegistry } from '../resources.ts';
import { keepUiLocales } from '../texts/page-texts.ts';
import { readChoice, waysIn } from '../upstream-login/choice.ts';
import {
  showApprove,
  showFault,
  submitApprove,
  submitLeave,
  submitOtherWay,
  submitUpstream,
} from '../upstream-login/upstream-pages.ts';
import {
  type ConsentStepOptions,
  showConsent,
  submitAgain,
  submitConsent,
  switchAccount,
} from './consent.ts';
import { answerRefusedForm, createCsrfCheck, FormRefused, readForm, refuseOtherMethods } from './form.ts';
import {
  type AskedFor,
  finishInteraction,
  type Interaction,
  loadInteraction,
  readRequest,
  resumeInteraction,
} from './interaction.ts';
import { type LoginStepOptions, showLogin, submitCode, submitLogin, submitPasskey } from './login.ts';
import { notePageOfForm } from './page-pass.ts';
import { showServers, submitServer } from './server-choice.ts';

/** Options of the pages of an interaction. */
export interface InteractionOptions extends LoginStepOptions, ConsentStepOptions {
  artifacts: ArtifactStore;
  resources: ResourceRegistry;
  identityScopes: readonly string[];
  /** Our public origin. */
  origin: string;
  /** Epoch seconds. */
  now: () => number;
}

/** Page of a form: one of the engine's prompts, or a page that any prompt may show. */
type Page = 'login' | 'consent' | 'fault' | 'server';

/** Each posted step: the page its form stands on, and what it does. */
const steps: Record<
  string,
  {
    page: Page;
    run: (
      ctx: Context,
      o: InteractionOptions,
      i: Interaction,
      a: AskedFor,
      form: URLSearchParams,
    ) => Promise<void>;
  }
> = {
  login: { page: 'login', run: submitLogin },
  code: { page: 'login', run: submitCode },
  passkey: { page: 'login', run: submitPasskey },
  cancel: {
    page: 'login',
    run: (ctx, _options, interaction) =>
      finishInteraction(ctx, interaction, {
        error: 'access_denied',
        error_description: 'the login was cancelled',
      }),
  },
  upstream: { page: 'login', run: submitUpstream },
  approve: { page: 'login', run: submitApprove },
  other: { page: 'login', run: submitOtherWay },
  again: { page: 'fault', run: submitAgain },
  elsewhere: { page: 'fault', run: submitOtherWay },
  leave: { page: 'fault', run: submitLeave },
  consent: { page: 'consent', run: submitConsent },
  server: { page: 'server', run: submitServer },
  switch: {
    page: 'consent',
    run: (ctx, options, interaction, asked) => switchAccount(ctx, options, interaction, asked),
  },
};

/**
 * Creates the handler of `/interaction/<uid>` (the page) and `/interaction/<uid>/<step>` (its forms, POST only).
 * @returns a function of the context and the path below `/interaction/`
 */
export function createInteractions(
  options: InteractionOptions,
): (ctx: Context, path: string) => Promise<void> {
  const { provider, artifacts, resources, identityScopes, origin, csrfKeys } = options;

  async function show(ctx: Context, interaction: Interaction, asked: AskedFor): Promise<void> {
    if (asked.resource.choices) return showServers(ctx, options, interaction, asked);
    const fault = readChoice(interaction)?.fault;
    if (fault) return showFault(ctx, options, interaction, asked, fault);
    if (interaction.prompt.name !== 'login') return showConsent(ctx, options, interaction, asked);
    const { chosen } = waysIn(options.upstreams, interaction, asked.resource.resource);
    if (chosen) return showApprove(ctx, options, interaction, asked, chosen);
    return showLogin(ctx, options, interaction, asked);
  }

  async function serve(ctx: Context, uid: string, stepName: string | undefined): Promise<void> {
    const interaction = await loadInteraction(provider, ctx, uid);
    keepUiLocales(ctx, interaction.params.ui_locales);
    const asked = await readRequest(provider, interaction, resources, identityScopes, options.now());
    const step = stepName === undefined ? undefined : steps[stepName];
    if (!step && interaction.result !== undefined)
      throw new errors.SessionNotFound('this interaction was answered already');
    if (!step) return show(ctx, interaction, asked);
    const isOfPrompt = step.page === 'login' || step.page === 'consent';
    if ((asked.resource.choices !== undefined) !== (step.page === 'server'))
      throw new errors.SessionNotFound('this form belongs to an earlier page');
    if (isOfPrompt && interaction.prompt.name !== step.page)
      throw new errors.SessionNotFound('this form belongs to an earlier page');
    const form = await readForm(ctx, origin, createCsrfCheck(csrfKeys, step.page, uid));
    notePageOfForm(ctx, form);
    ctx.state.answered = interaction;
    if (interaction.result !== undefined) return resumeInteraction(ctx, interaction);
    await step.run(ctx, options, interaction, asked, form);
  }

  /** Responds to the second of two equal posts: it continues with the result of the first, which does not change. */
  function refuseLateAnswer(ctx: Context, conflict: Conflict): void {
    ctx.remove('Set-Cookie');
    if (conflict.reason === 'changed' && conflict.kind === 'Interaction' && ctx.state.answered) {
      resumeInteraction(ctx, ctx.state.answered);
    } else {
      ctx.remove('Location');
      answerWithErrorPage(ctx, 400, { code: 'invalid_request' }, { explanation: 'expired' });
    }
  }

  return async (ctx, path) => {
    ctx.set('Cache-Control', 'no-store');
    const [uid = '', stepName, ...rest] = path.split('/');
    if (rest.length > 0 || (stepName !== undefined && !Object.hasOwn(steps, stepName)))
      return answerWithErrorPage(ctx, 404, { code: 'not_found' });
    const allowed = stepName === undefined ? ['GET', 'HEAD'] : ['POST'];
    if (refuseOtherMethods(ctx, allowed)) return;
    try {
      const { result } = await commitWrites(artifacts, async () => {
        await serve(ctx, uid, stepName);
        return true;
      });
      if (!result.committed) return refuseLateAnswer(ctx, result.conflict);
    } catch (error) {
      if (error instanceof FormRefused) return answerRefusedForm(ctx, error);
      if (isClientRefusal(error)) return answerWithClientRefusal(ctx, error);
      if (error instanceof errors.InvalidRedirectUri)
        return answerWithErrorPage(ctx, 400, { code: error.error });
      if (error instanceof errors.SessionNotFound) {
        ctx.remove('Location');
        return answerWithErrorPage(ctx, 400, { code: 'invalid_request' }, { explanation: 'expired' });
      }
      throw error;
    }
  };
}
