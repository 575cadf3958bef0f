import { type Markup, markup } from '../views/markup.ts';

/** The words of logins through somebody else's login (an upstream), in English. */
export const upstreamEn = {
  /** On the login page. */
  or: 'or',
  logInWith: (label: string) => `Log in with ${label}`,

  /** On the consent page. */
  loggedInThrough: (label: string) => `through ${label}`,
  goesThere: (label: string) =>
    `If you allow this, you continue to ${label} next, and may have to log in there.`,

  approve: {
    next: (label: Markup) =>
      markup`Nothing is sent to ${label} before you continue here. You log in there and then return here automatically.`,
    asked: (label: string) => `Requested from ${label}`,
    askedNothing: 'Your identity',
    submit: (label: string) => `Continue to ${label}`,
    otherWay: 'Log in another way',
  },

  fault: {
    heading: (label: string) => `The login through ${label} did not work`,
    unavailable: (label: string) =>
      `${label} cannot be reached at the moment, or did not respond in time. No app got access.`,
    refused: (label: string) =>
      `The response of ${label} could not be accepted, so nobody was logged in. No app got access.`,
    notAdmitted: (label: string) =>
      `You have logged in at ${label}, but this login is not allowed here. No app got access.`,
    notAdmittedHint: (label: string) =>
      `If you have an account here already, log in with it and link ${label} on your account page. Otherwise ask the operator of this server.`,
    again: 'Try again',
    otherWay: 'Log in another way',
    backToApp: 'Back to the app',
    backToAccount: 'Back to your account',
  },
};
