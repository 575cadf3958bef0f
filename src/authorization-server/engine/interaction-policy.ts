import { interactionPolicy } from 'oidc-provider';

/**
 * Builds the policy that decides which pages an authorization request needs: a login where there is none or the client
 * asks for one, and a consent each time, whatever was agreed before. The engine's own rule asks native clients alone
 * and tells `prompt=none` to come back with `interaction_required`, where the standard has `consent_required`.
 * @returns a policy for oidc-provider
 * @see OpenID Connect Core 1.0 section 3.1.2.6; RFC 8252 section 8.6 (T-012, T-025)
 */
export function buildInteractionPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const consent = policy.get('consent');
  if (!consent) throw new TypeError('the engine has no consent prompt');
  consent.checks.remove('native_client_prompt');
  consent.checks.add(
    new interactionPolicy.Check(
      'each_authorization',
      'each authorization needs a consent of its own',
      'consent_required',
      (ctx) => !ctx.oidc.result?.consent,
    ),
    0,
  );
  return policy;
}
