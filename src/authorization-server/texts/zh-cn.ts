import { markup } from '../views/markup.ts';
import { accountZhCn } from './account-zh-cn.ts';
import type { Texts } from './en.ts';
import type { upstreamEn } from './upstream-en.ts';

function timeAgo(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes < 1 ? '不到一分钟前' : `${minutes} 分钟前`;
}

function waitingTime(seconds: number): string {
  return seconds < 90 ? `${seconds} 秒` : `${Math.ceil(seconds / 60)} 分钟`;
}

function lifetime(seconds: number): string {
  if (seconds >= 2 * 86_400) return `${Math.round(seconds / 86_400)} 天`;
  if (seconds >= 2 * 3600) return `${Math.round(seconds / 3600)} 小时`;
  return waitingTime(seconds);
}

/** The words of logins through somebody else's login (an upstream), in Simplified Chinese. */
export const upstreamZhCn: typeof upstreamEn = {
  or: '或',
  logInWith: (label) => `通过 ${label} 登录`,

  loggedInThrough: (label) => `（通过 ${label}）`,
  goesThere: (label) => `允许后会先转到 ${label}，您可能需要在那里登录。`,

  approve: {
    next: (label) => markup`在您继续之前，不会向 ${label} 发送任何内容。您将在那里登录，然后自动返回这里。`,
    asked: (label) => `将向 ${label} 请求`,
    askedNothing: '您的身份',
    submit: (label) => `继续前往 ${label}`,
    otherWay: '用其他方式登录',
  },

  fault: {
    heading: (label) => `未能通过 ${label} 登录`,
    unavailable: (label) => `${label} 目前无法访问，或没有及时响应。没有向任何应用提供任何内容。`,
    refused: (label) => `${label} 的响应无法接受，因此没有任何人登录。没有向任何应用提供任何内容。`,
    notAdmitted: (label) => `您已在 ${label} 登录，但该登录不能在这里使用。没有向任何应用提供任何内容。`,
    notAdmittedHint: (label) =>
      `如果您在这里已有账号，请先用它登录，再在您的账号页面关联 ${label}。否则请询问此服务器的管理者。`,
    again: '重试',
    otherWay: '用其他方式登录',
    backToApp: '返回应用',
    backToAccount: '返回您的账号',
  },
};

/** The words of every page, in Simplified Chinese. */
export const zhCn: Texts = {
  language: 'zh-CN',

  layout: {
    product: 'Gatehouse',
    title: (page, about) => `${page} - ${about}`,
  },

  client: {
    nameless: '未命名的应用',
    quoted: (name) => `“${name}”`,
  },

  login: {
    heading: '登录',
    request: (app, resource) => markup`${app} 请求以您的身份使用 ${resource}。请先登录，再作决定。`,
    nameNotChecked: '此名称由应用自行填写，未经核实。',
    email: '电子邮箱',
    password: '密码',
    submit: '登录',
    cancel: '取消',
    refused: '电子邮箱或密码不正确。',
    busy: '当前登录人数较多，请几秒钟后再试。',
    throttled: (seconds) => `尝试次数过多，请等待 ${waitingTime(seconds)}后再试。`,
    throttledHere: (seconds) =>
      `尝试次数过多，请等待 ${waitingTime(seconds)}后再试，或改用您以前登录过的另一个浏览器：它的尝试次数单独计算。`,
  },

  consent: {
    title: (app) => `允许 ${app} 访问吗？`,
    heading: (app, resource) => markup`允许 ${app} 使用 ${resource} 吗？`,
    loggedInAs: (account) => markup`当前登录账号：${account}`,
    switchAccount: '换一个账号',
    target: {
      loopback: (host) => `这台电脑上的一个应用（${host}）`,
      scheme: (scheme) => `注册了 ${scheme} 的应用`,
      host: (host) => host,
      device: (code) => `显示代码 ${code} 的设备`,
    },
    caution: {
      loopback: '仅当您刚刚在这台电脑上的应用中发起了这次登录时，才请继续。',
      scheme: '仅当您刚刚在这台设备上的该应用中发起了这次登录时，才请继续。',
      device: '仅当这是您本人在眼前的设备上发起的操作时，才请继续。',
    },
    describedBy: (publisher, app, target) =>
      markup`<strong>由 ${publisher} 说明：</strong>该网站称此应用为 ${app}。您的授权将发送到 ${target}，这是该网站指定的接收方。`,
    ofOperator: (app, target) =>
      markup`<strong>由本服务器的运营者登记：</strong>${app}。您的授权将发送到 ${target}，这是运营者指定的接收方。`,
    notCheckedOperator: (app, target) =>
      markup`<strong>未经核实：</strong>该应用自称是 ${app}，即由本服务器的运营者登记的应用。这台设备上的任何应用都可以这样自称。您的授权将发送到 ${target}，只有这一点是确定的。`,
    namesake: '请注意：本服务器的运营者登记过一个名称相近的应用，但并不是这一个。',
    notChecked: (app, target) =>
      markup`<strong>未经核实：</strong>名称 ${app} 由应用自行填写。您的授权将发送到 ${target}，只有这一点是确定的。`,
    notCheckedDocument: (app, publisher, target) =>
      markup`<strong>未经核实：</strong>该应用自称是 ${app}，由 ${publisher} 说明。这台设备上的任何应用都可以这样自称。您的授权将发送到 ${target}，只有这一点是确定的。`,
    notCheckedDevice: (app, publisher, target) =>
      markup`<strong>未经核实：</strong>该设备称其上的应用是 ${app}，由 ${publisher} 说明。任何设备都可以这样自称。您的授权将发送到${target}，只有这一点是确定的。`,
    scopesLegend: '该应用将能够',
    noScopes: '该应用没有请求任何具体权限。',
    newScopesLegend: '新增权限：该应用还将能够',
    allowedScopesLegend: '此前已允许：该应用仍将能够',
    tools: (names) => markup`工具：${names}`,
    freeTools: (names) => markup`无需权限即可使用的工具：${names}`,
    toolsNotYet: '该服务器尚未列出其工具：它可能仍在启动。请稍后重新加载此页面以查看。',
    andMore: (names, more) => markup`${names} 及其他 ${more} 个`,
    learned: {
      email: () => '您的电子邮箱',
      name: () => '您的姓名',
      groups: (upstream) => `您在 ${upstream} 的群组与角色`,
      identity: (upstream) => `您在 ${upstream} 的用户标识`,
      claims: (upstream) => `您在 ${upstream} 的其他信息`,
      login: () => '您登录的时间与方式',
    },
    learns: (server, facts) => markup`${server} 将获知${[...facts].join('、')}。`,
    keeps: {
      redacted: (server) => markup`运营者会保存对 ${server} 的每次调用的记录，包括应用发送的部分内容。`,
      full: (server) => markup`运营者会保存对 ${server} 的每次调用的记录，包括应用发送的全部内容。`,
    },
    askedAgain: '每次都会询问您，因为其他应用可能会冒用该应用的标识。',
    endEarlier: '终止此前允许的访问',
    endEarlierDetail: '否则此前的授权将与本次授权并存。终止后，其他设备上的同一应用可能需要重新登录。',
    duration: {
      legend: '该应用保留此访问权限的时长（包括您离开期间）',
      hour: '一小时',
      day: '一天',
      revoked: (seconds) => `直到被撤销，最长 ${lifetime(seconds)}`,
      brief: (seconds) => `该应用最多保留此访问权限 ${lifetime(seconds)}。`,
    },
    facts: {
      resource: '用于访问',
      identifier: '应用标识',
      publisher: '应用说明来自',
      website: '应用自称的网站（未经核实）',
    },
    deny: '拒绝',
    allow: '允许',
  },

  error: {
    code: '错误代码',
    detail: '详细信息（供应用开发者或服务器管理员参考）',
    clientId: '应用标识',
    requestId: '请求编号（寻求帮助时请提供）',
    backToApp: '返回应用',
    backToAccount: '返回您的账号',
    fromAccount: '请从账号页面继续。',
    wait: (seconds) => `请在 ${waitingTime(seconds)}后重试。`,
    forget: {
      claudeCode:
        '运行 /mcp，选择此服务器，再选“Clear authentication”，然后重新登录。如果没有该选项：运行 claude mcp remove 名称，然后重新添加此服务器。',
      vscode:
        '在命令面板中运行“Authentication: Remove Dynamic Authentication Providers”，选择此服务器，然后重新启动它。',
      cursor: '在 MCP 设置中移除此服务器，然后重新添加。',
      codex: '运行 codex mcp logout 名称，然后运行 codex mcp login 名称。',
      mcpRemote: '删除文件夹 ~/.mcp-auth，然后重新启动应用。',
    },
    explanations: {
      invalid_client: {
        title: '此服务器不认识该应用',
        message: '将您带到此处的应用使用的注册信息在此服务器上不存在，或已不再存在。',
        hint: '请在应用中移除此服务器后重新添加，或清除已保存的登录信息，应用随后会重新注册。',
      },
      invalid_redirect_uri: {
        title: '登录后无法返回应用',
        message: '应用要求将您带到一个它没有注册过的地址。',
        hint: '请在应用中移除此服务器后重新添加。如果仍然不行，请告知应用的开发者。',
      },
      client_pending: {
        title: '此应用正在等待批准',
        message: '此服务器的运营者会先批准每个应用，然后才能使用。没有向该应用共享任何内容。',
        hint: '请将下方的应用标识告知此服务器的运营者。获得批准后，请从应用中重新登录。',
      },
      client_denied: {
        title: '此处不允许使用该应用',
        message: '此服务器的运营者已拒绝该应用。没有向该应用共享任何内容。',
        hint: '如果您需要使用该应用，请联系此服务器的运营者。',
      },
      client_document: {
        title: '无法查询该应用的信息',
        message: '该应用由其自身网站上的一份文档说明，而这份文档无法使用。',
        hint: '请稍后再试。如果仍然不行，请告知服务器管理员或应用的开发者。',
      },
      access_denied: {
        title: '未授予访问权限',
        message: '没有向应用提供任何信息。',
        hint: '您可以关闭此页面，或从应用中重新开始。',
      },
      server_error: {
        title: '服务器出现问题',
        message: '服务器无法完成此操作，原因已记录在其日志中。',
        hint: '请稍后再试。如果仍然不行，请告知服务器管理员。',
      },
      temporarily_unavailable: {
        title: '请稍后再试',
        message: '服务器暂时无法保存数据，因此未执行任何操作。',
        hint: '请等待几秒钟，然后重新加载页面。',
      },
      too_many_requests: {
        title: '请求过多',
        message: '您的网络地址在短时间内发送了过多的请求。未执行任何操作，也未提供任何信息。',
        hint: '请稍后再试。',
      },
      too_many_codes: {
        title: '尝试的代码过多',
        message: '您的网络地址或此浏览器输入了过多不正确的代码。',
        hint: '请稍后再试。',
      },
      expired: {
        title: '这次登录已结束',
        message: '它可能已经处理过、超过了时限，或是在另一个浏览器中发起的。',
        hint: '请从应用中，或从您开始操作的页面重新开始。',
      },
      form_refused: {
        title: '未处理此表单',
        message: '它不是从您当前打开的页面提交的，或者没有完整送达。',
        hint: '请从应用中重新开始。',
      },
      account_gone: {
        title: '该项已不存在',
        message: '您选择的内容已经结束，或不属于您的账号。未作任何更改。',
      },
      not_found: {
        title: '页面不存在',
        message: '此地址没有任何内容。',
        hint: '请核对地址，或从应用中重新开始。',
      },
      other: {
        title: '应用发送的请求无法处理',
        message: '没有向应用提供任何信息。',
        hint: '请从应用中重新开始。如果仍然不行，请告知应用的开发者。',
      },
    },
  },

  home: {
    heading: '这是一个 MCP 服务器',
    introduction: (name) =>
      markup`${name} 供支持模型上下文协议（MCP）的应用使用。您无需在此页面上做任何操作：应用需要登录时会自动打开登录页面。`,
    headingOfSeveral: '这里有多个 MCP 服务器',
    introductionOfSeveral:
      '它们供支持模型上下文协议（MCP）的应用使用。您无需在此页面上做任何操作：应用需要登录时会自动打开登录页面。',
    mcpUrl: 'MCP 地址',
    account: '您的账号：已授权的应用、密码和通行密钥',
    connect: '要连接，请在应用中将此地址添加为远程 MCP 服务器（Streamable HTTP）。在 Claude Code 中：',
  },

  device: {
    askedFrom: (address, seconds) => `由地址 ${address} 于${timeAgo(seconds)}请求`,
    heading: '连接设备',
    ownWork:
      '仅当这是您本人在眼前的设备上发起的操作时，才请继续。如果是别人把这个链接或代码发给您的，请关闭此页面。',
    enterCode: '请输入您的设备上显示的代码。',
    code: '代码',
    goOn: '继续',
    compareCode: '您的设备上显示的正是这个代码吗？',
    sameCode: '是的，代码一致',
    confirmTitle: (app) => `连接 ${app} 吗？`,
    confirmHeading: '这是您的设备吗？',
    request: (app, resource) =>
      markup`一台设备上的应用 ${app} 请求以您的身份使用 ${resource}。该设备显示以下代码：`,
    whereAndWhen: '请求来源',
    refuseIfInDoubt:
      '如果您不认识这台设备，或者是别人让您这样做的，请拒绝：持有该设备的人将能以您的名义操作。',
    notMine: '不是，拒绝',
    mine: '是，继续',
    problems: {
      none: '请输入您的设备上显示的代码。',
      unknown: '没有设备在等待这个代码。请与您的设备上显示的代码核对。',
      expired: '此代码已过期。请让您的设备显示新的代码。',
      used: '此代码已被使用。请让您的设备显示新的代码。',
    },
    done: {
      heading: '您的设备已连接',
      message: '请回到您的设备：几秒钟后它会自动继续。您可以关闭此页面。',
    },
    denied: {
      heading: '未授予访问权限',
      message: '没有向该设备共享任何信息。您可以关闭此页面。',
    },
  },

  serverChoice: {
    title: (app) => `允许 ${app} 使用哪个服务器？`,
    heading: (app) => markup`允许 ${app} 使用哪个服务器？`,
    explanation:
      '此应用没有说明它需要哪个服务器。请选择您提供给该应用的地址所对应的服务器：访问权限仅适用于该服务器。',
    legend: '此处的服务器',
  },

  onward: {
    app: {
      heading: '返回应用',
      message: '应用即将收到您的决定。应用打开后，您可以关闭此页面。',
    },
    step: { heading: '请稍候', message: '下一页会自动打开。' },
    goOn: '继续',
  },

  logout: {
    heading: '退出登录',
    loggedInAs: (account) => markup`您在此处登录的账号是 ${account}。`,
    nobody: '此浏览器中没有人登录。',
    appsStay: '应用会保留您已授予的访问权限：这里只结束此浏览器的登录。',
    goesOn: (target) => markup`之后您将前往${target}。`,
    stay: '保持登录',
    submit: '退出登录',
    goOn: '继续',
    done: {
      heading: '您已退出登录',
      message: '此浏览器的登录已结束。您可以关闭此页面。',
    },
  },

  account: accountZhCn,

  upstream: upstreamZhCn,
};
