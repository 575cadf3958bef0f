import { type Markup, markup } from '../views/markup.ts';
import { accountEn } from './account-en.ts';
import { upstreamEn } from './upstream-en.ts';

function timeAgo(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return 'less than a minute ago';
  return minutes === 1 ? '1 minute ago' : `${minutes} minutes ago`;
}

function waitingTime(seconds: number): string {
  return seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}

function lifetime(seconds: number): string {
  if (seconds >= 2 * 86_400) return `${Math.round(seconds / 86_400)} days`;
  if (seconds >= 2 * 3600) return `${Math.round(seconds / 3600)} hours`;
  return waitingTime(seconds);
}

/**
 * The words of every page, in English: one section a page. If a sentence contains a value, the text is a function, so
 * that each language puts it where it belongs. The other catalogues have the same shape.
 */
export const en = {
  /** Language tag of the pages (BCP 47), for the `lang` attribute. */
  language: 'en',

  /** Texts that all pages share. */
  layout: {
    product: 'Gatehouse',
    title: (page: string, about: string) => `${page} – ${about}`,
  },

  /** Descriptions of the requesting app. */
  client: {
    nameless: 'An app without a name',
    quoted: (name: string) => `“${name}”`,
  },

  login: {
    heading: 'Log in',
    request: (app: Markup, resource: Markup) =>
      markup`${app} asks to use ${resource} for you. Log in to decide.`,
    nameNotChecked: 'The app chose this name itself. It has not been checked.',
    email: 'E-mail',
    password: 'Password',
    submit: 'Log in',
    cancel: 'Cancel',
    refused: 'Incorrect e-mail or password.',
    busy: 'Many people are logging in at this moment. Please try again in a few seconds.',
    throttled: (seconds: number) => `Too many attempts. Please wait ${waitingTime(seconds)} and try again.`,
    throttledHere: (seconds: number) =>
      `Too many attempts. Please wait ${waitingTime(seconds)} and try again, or use another browser in which you have logged in before: its attempts count by themselves.`,
  },

  consent: {
    title: (app: string) => `Allow ${app}?`,
    heading: (app: Markup, resource: Markup) => markup`Allow ${app} to use ${resource}?`,
    loggedInAs: (account: Markup) => markup`Logged in as ${account}`,
    switchAccount: 'Use another account',
    /** Targets of the approval; each fits after "goes to". */
    target: {
      loopback: (host: string) => `an app on this computer (${host})`,
      scheme: (scheme: string) => `the app registered for ${scheme}`,
      host: (host: string) => host,
      device: (code: string) => `the device that shows the code ${code}`,
    },
    caution: {
      loopback: 'Only continue if you just started this login from an app on this computer.',
      scheme: 'Only continue if you just started this login from that app on this device.',
      device: 'Only continue if you started this yourself, on a device in front of you.',
    },
    describedBy: (publisher: string, app: Markup, target: Markup) =>
      markup`<strong>Described by ${publisher}:</strong> that site calls the app ${app}. Your approval goes to ${target}, the destination that this site names.`,
    ofOperator: (app: Markup, target: Markup) =>
      markup`<strong>Registered by the operator of this server:</strong> ${app}. Your approval goes to ${target}, the destination that the operator named.`,
    notCheckedOperator: (app: Markup, target: Markup) =>
      markup`<strong>Not checked:</strong> the app says it is ${app}, registered by the operator of this server. Any app on this device can say that. Only this is certain: your approval goes to ${target}.`,
    namesake:
      'Careful: the operator of this server registered another app with a similar name. This is not that app.',
    notChecked: (app: Markup, target: Markup) =>
      markup`<strong>Not checked:</strong> the app chose the name ${app} itself. Only this is certain: your approval goes to ${target}.`,
    notCheckedDocument: (app: Markup, publisher: Markup, target: Markup) =>
      markup`<strong>Not checked:</strong> the app says it is ${app}, described by ${publisher}. Any app on this device can say that. Only this is certain: your approval goes to ${target}.`,
    notCheckedDevice: (app: Markup, publisher: Markup, target: Markup) =>
      markup`<strong>Not checked:</strong> the device says the app on it is ${app}, described by ${publisher}. Any device can say that. Only this is certain: your approval goes to ${target}.`,
    scopesLegend: 'The app will be able to',
    noScopes: 'The app asks for no specific permission.',
    newScopesLegend: 'New: the app will also be able to',
    allowedScopesLegend: 'Allowed before: the app will still be able to',
    tools: (names: Markup) => markup`Tools: ${names}`,
    freeTools: (names: Markup) => markup`Tools that need no permission: ${names}`,
    toolsNotYet:
      'The server has not listed its tools yet: it may still be starting. Reload this page in a moment to see them.',
    andMore: (names: Markup, more: number) => markup`${names} and ${more} more`,
    /** Data about the user; each fits after "learns". */
    learned: {
      email: (_upstream: string) => 'your e-mail address',
      name: (_upstream: string) => 'your name',
      groups: (upstream: string) => `your groups and roles at ${upstream}`,
      identity: (upstream: string) => `your user id at ${upstream}`,
      claims: (upstream: string) => `other data about you at ${upstream}`,
      login: (_upstream: string) => 'when and how you logged in',
    },
    learns: (server: Markup, facts: readonly string[]) =>
      markup`${server} learns ${new Intl.ListFormat('en').format(facts)}.`,
    keeps: {
      redacted: (server: Markup) =>
        markup`The operator keeps a record of each call to ${server}, with some of the values that the app sends.`,
      full: (server: Markup) =>
        markup`The operator keeps a record of each call to ${server}, with everything that the app sends.`,
    },
    askedAgain: 'You are asked each time, because another app could use the identifier of this one.',
    endEarlier: 'End what was allowed before',
    endEarlierDetail:
      'Otherwise it continues beside the new access. The same app on another device may have to log in again.',
    duration: {
      legend: 'How long the app keeps this access, also while you are away',
      hour: 'An hour',
      day: 'A day',
      revoked: (seconds: number) => `Until it is withdrawn, ${lifetime(seconds)} at most`,
      brief: (seconds: number) => `The app keeps this access for ${lifetime(seconds)} at most.`,
    },
    facts: {
      resource: 'For use of',
      identifier: 'App identifier',
      publisher: 'App described by',
      website: 'Website the app names (not checked)',
    },
    deny: 'Deny',
    allow: 'Allow',
  },

  error: {
    code: 'Error code',
    detail: 'Detail, for the developer of the app or the operator of this server',
    clientId: 'App identifier',
    requestId: 'Request ID, if you ask for help',
    backToApp: 'Back to the app',
    backToAccount: 'Back to your account',
    fromAccount: 'Please go on from your account page.',
    wait: (seconds: number) => `Please try again in ${waitingTime(seconds)}.`,
    /** Instructions by which an app forgets a registration; commands and menus are named as in the apps. */
    forget: {
      claudeCode:
        'Run /mcp, choose this server and “Clear authentication”, then log in again. Where that is not offered: claude mcp remove NAME, then add the server again.',
      vscode:
        'Run “Authentication: Remove Dynamic Authentication Providers” from the Command Palette, choose this server, then start it again.',
      cursor: 'Remove the server in the settings for MCP, and add it again.',
      codex: 'Run codex mcp logout NAME, then codex mcp login NAME.',
      mcpRemote: 'Delete the folder ~/.mcp-auth, then start the app again.',
    },
    /** By error code, or by a name of ours if one code has several meanings. */
    explanations: {
      invalid_client: {
        title: 'This app is not known here',
        message: 'The app uses a registration that this server does not know, or no longer knows.',
        hint: 'In the app, remove this server and add it again, or clear its saved login. It then registers again.',
      },
      invalid_redirect_uri: {
        title: 'This login cannot return to the app',
        message: 'The app asked to send you to an address that it did not register.',
        hint: 'In the app, remove this server and add it again. If that does not help, tell the developer of the app.',
      },
      client_pending: {
        title: 'This app waits for approval',
        message:
          'The operator of this server approves each app before it can be used. Nothing was shared with the app.',
        hint: 'Give the app identifier below to the operator of this server. Once it is approved, log in again from the app.',
      },
      client_denied: {
        title: 'This app is not allowed here',
        message: 'The operator of this server has rejected it. Nothing was shared with the app.',
        hint: 'If you need this app, ask the operator of this server.',
      },
      client_document: {
        title: 'This app could not be looked up',
        message: 'The app is described by a document at its own site, and that document could not be used.',
        hint: 'Please try again in a moment. If that does not help, tell the operator of this server or the developer of the app.',
      },
      access_denied: {
        title: 'Access was not granted',
        message: 'Nothing was shared with the app.',
        hint: 'You can close this page, or begin again from the app.',
      },
      server_error: {
        title: 'Something went wrong here',
        message: 'The server could not finish this. Its log has the reason.',
        hint: 'Please try again in a moment. If that does not help, tell the operator of this server.',
      },
      temporarily_unavailable: {
        title: 'Please try again in a moment',
        message: 'The server cannot store anything right now, so nothing was done.',
        hint: 'Wait a few seconds and load the page again.',
      },
      too_many_requests: {
        title: 'Too many requests',
        message:
          'Too many requests came from your network address in a short time. Nothing was done, and nothing was shared.',
        hint: 'Please try again later.',
      },
      too_many_codes: {
        title: 'Too many wrong codes',
        message: 'Your network address or this browser has entered too many wrong codes.',
        hint: 'Please try again later.',
      },
      expired: {
        title: 'This login has ended',
        message: 'It was already completed, it took too long, or it began in another browser.',
        hint: 'Please begin again from the app, or from the page where you began.',
      },
      form_refused: {
        title: 'This form was not accepted',
        message: 'It was not sent from the page you have open, or it arrived incomplete.',
        hint: 'Please begin again from the app.',
      },
      account_gone: {
        title: 'This is no longer there',
        message:
          'The selected entry has ended already, or does not belong to your account. Nothing was changed.',
      },
      not_found: {
        title: 'There is no such page',
        message: 'Nothing is served at this address.',
        hint: 'Please compare the address, or begin again from the app.',
      },
      other: {
        title: 'The app sent an invalid request',
        message: 'Nothing was shared with the app.',
        hint: 'Please begin again from the app. If that does not help, tell its developer.',
      },
    },
  },

  home: {
    heading: 'This is an MCP server',
    introduction: (name: Markup) =>
      markup`${name} is for apps that speak the Model Context Protocol. There is nothing to do on this page: your app opens the login when it needs one.`,
    headingOfSeveral: 'These are MCP servers',
    introductionOfSeveral:
      'They are for apps that speak the Model Context Protocol. There is nothing to do on this page: your app opens the login when it needs one.',
    mcpUrl: 'MCP URL',
    account: 'Your account: apps you allowed, passwords and passkeys',
    connect: 'To connect, add the URL to your app as a remote MCP server (Streamable HTTP). In Claude Code:',
  },

  device: {
    askedFrom: (address: string, seconds: number) => `requested from ${address}, ${timeAgo(seconds)}`,
    heading: 'Connect a device',
    ownWork:
      'Only continue if you started this yourself, on a device in front of you. If somebody sent you this link or a code, close this page.',
    enterCode: 'Enter the code that your device shows.',
    code: 'Code',
    goOn: 'Continue',
    compareCode: 'Does your device show exactly this code?',
    sameCode: 'Yes, my device shows this code',
    confirmTitle: (app: string) => `Connect ${app}?`,
    confirmHeading: 'Is this your device?',
    request: (app: Markup, resource: Markup) =>
      markup`A device asks to use ${resource} for you, with the app ${app}. It shows this code:`,
    whereAndWhen: 'Where the request comes from',
    refuseIfInDoubt:
      'Refuse if you do not know this device, or if somebody told you to do this. The owner of the device could act for you.',
    notMine: 'No, refuse',
    mine: 'Yes, continue',
    problems: {
      none: 'Please enter the code that your device shows.',
      unknown: 'No device is waiting for this code. Please compare it with the one your device shows.',
      expired: 'This code has expired. Please let your device show a new one.',
      used: 'This code was used already. Please let your device show a new one.',
    },
    done: {
      heading: 'Your device is connected',
      message: 'Go back to your device: it continues by itself in a few seconds. You can close this page.',
    },
    denied: {
      heading: 'Access was not granted',
      message: 'Nothing was shared with the device. You can close this page.',
    },
  },

  serverChoice: {
    title: (app: string) => `Which server may ${app} use?`,
    heading: (app: Markup) => markup`Which server may ${app} use?`,
    explanation:
      'This app does not say which server it needs. Choose the server whose address you gave to the app. The app gets access to that server only.',
    legend: 'Servers here',
  },

  onward: {
    app: {
      heading: 'Back to the app',
      message: 'The app gets your decision now. When it is open, you can close this page.',
    },
    step: { heading: 'One moment', message: 'The next page opens by itself.' },
    goOn: 'Continue',
  },

  logout: {
    heading: 'Log out',
    loggedInAs: (account: Markup) => markup`You are logged in here as ${account}.`,
    nobody: 'Nobody is logged in here in this browser.',
    appsStay: 'Apps keep the access you gave them: this ends the login of this browser only.',
    goesOn: (target: Markup) => markup`Then you continue to ${target}.`,
    stay: 'Stay logged in',
    submit: 'Log out',
    goOn: 'Continue',
    done: {
      heading: 'You are logged out',
      message: 'The login of this browser has ended. You can close this page.',
    },
  },

  account: accountEn,

  upstream: upstreamEn,
};

/** A catalogue: the words of every page in one language. */
export type Texts = typeof en;
