import { markup } from '../views/markup.ts';
import type { accountEn } from './account-en.ts';

/** The words of the account pages and of the ways to log in beside a password, in Simplified Chinese. */
export const accountZhCn: typeof accountEn = {
  title: '您的账号',
  loggedInAs: (account) => markup`当前登录账号：${account}`,
  logOut: '退出登录',
  back: '返回您的账号',
  end: '结束',
  cancel: '取消',
  never: '尚未使用',
  problemTitle: '操作未成功',

  apps: {
    heading: '已连接的应用',
    introduction: '这些应用可以代表您执行操作。结束某个应用后，它的令牌、数据流和正在进行的调用会立即停止。',
    none: '没有应用可以代表您执行操作。',
    allowed: '允许',
    nothing: '没有具体权限',
    since: (time) => `授权时间：${time}`,
    lastUsed: (time) => `最近使用：${time}`,
    until: (time) => `最迟于 ${time} 结束`,
    describedBy: (host) => `由 ${host} 说明`,
    notChecked: '此名称由应用自行填写，未经核实。',
    end: (app) => `结束 ${app} 的访问权限`,
  },

  connections: {
    heading: '打开的 MCP 会话',
    none: '没有应用打开会话。',
    at: (server) => markup`服务器：${server}`,
    since: (time) => `打开时间：${time}`,
    lastUsed: (time) => `最近使用：${time}`,
    end: (app) => `结束 ${app} 的会话`,
  },

  browsers: {
    heading: '已登录的浏览器',
    name: (browser, system) => (system === undefined ? browser : `${system} 上的 ${browser}`),
    this: (name) => (name === undefined ? '当前浏览器' : `当前浏览器：${name}`),
    other: '另一个浏览器',
    since: (time) => `登录时间：${time}`,
    through: (service) => `通过 ${service} 登录`,
    end: '结束此登录',
    endOthers: '退出所有其他浏览器',
  },

  security: {
    heading: '登录方式',
    password: '修改密码',
    passkeys: (count) => `通行密钥（${count} 个）`,
    codesOn: '一次性验证码（已启用）',
    codesOff: '一次性验证码（未启用）',
    upstreams: (count) => `其他服务的账号（${count} 个）`,
    credentials: (entered, missing) =>
      missing === 0
        ? `MCP 服务器的密钥（${entered} 个）`
        : `MCP 服务器的密钥（${entered} 个，另有 ${missing} 个未输入）`,
  },

  login: {
    heading: '登录',
    toAccount: '请登录以查看和管理您的账号。',
    again: '进行此更改前，请再次验证您的身份。',
    passkey: '使用通行密钥登录',
    orPassword: '或使用密码登录',
  },

  code: {
    heading: '一次性验证码',
    explanation: '请输入身份验证器应用当前显示的验证码，或输入一个恢复码。',
    label: '验证码',
    submit: '继续',
    refused: '验证码不正确，或已被使用过。',
    expired: '等待时间过长，请重新登录。',
  },

  password: {
    heading: '修改密码',
    explanation: '修改后，所有其他浏览器都会退出登录，所有已连接的应用都需要重新授权。',
    unknown: '您的账号没有密码：您以其他方式登录。要设置密码，请向此服务器的管理者索取链接。',
    current: '当前密码',
    next: '新密码',
    repeat: '再次输入新密码',
    submit: '修改密码',
    wrong: '当前密码不正确。',
    different: '两次输入的新密码不一致。',
    tooShort: (characters) => `密码至少需要 ${characters} 个字符。`,
    tooLong: (bytes) => `密码最多 ${bytes} 个字节。`,
    done: '密码已修改。其他浏览器和所有应用均已退出登录。',
  },

  reset: {
    heading: '设置新密码',
    explanation: '此链接只能使用一次。所有已登录此账号的浏览器和应用都会退出登录。',
    submit: '设置密码',
    doneHeading: '密码已设置',
    done: '您现在可以使用新密码登录。',
    gone: '此链接已被使用或已过期。请向服务器管理员索取新链接。',
  },

  passkeys: {
    heading: '通行密钥',
    explanation: '通行密钥可代替密码：您可以用指纹、面容或设备的 PIN 码解锁。',
    none: '您没有通行密钥。',
    synced: '保存在多台设备上',
    single: '保存在一台设备上',
    added: (time) => `添加时间：${time}`,
    lastUsed: (time) => `最近使用：${time}`,
    name: '新通行密钥的名称',
    suggestedName: '我的通行密钥',
    add: '添加通行密钥',
    remove: (name) => `移除 ${name}`,
    needsScript: '添加通行密钥需要支持 JavaScript 和通行密钥的浏览器。',
    refused: '无法使用该通行密钥，请重试。',
    taken: '该通行密钥已注册，或通行密钥数量已达上限。',
    onlyWay:
      '您只能用此通行密钥登录。移除之前，请先添加另一个通行密钥、关联一个可登录的服务，或向此服务器的管理者索取设置密码的链接。',
  },

  codes: {
    heading: '一次性验证码',
    off: '启用一次性验证码后，登录时除密码外还需输入身份验证器应用中的验证码。',
    scan: '请用身份验证器应用扫描此图，或将密钥输入应用，然后输入应用显示的验证码。',
    picture: '供身份验证器应用扫描的二维码',
    key: '密钥',
    label: '验证码',
    turnOn: '启用',
    on: (count) => `一次性验证码已启用。剩余恢复码：${count} 个。`,
    turnOff: '停用',
    newRecoveryCodes: '生成新的恢复码',
    recoveryHeading: '您的恢复码',
    recovery: '请将这些恢复码保存在没有设备时也能找到的地方。每个恢复码可代替验证码使用一次，之后不再显示。',
    refused: '验证码不正确，请核对设备时间后重试。',
  },

  upstreams: {
    heading: '其他服务的账号',
    explanation: '这些是与您的账号关联的其他服务账号：您可以用它们登录，工具也可以用它们代表您操作。',
    none: '没有关联其他服务的账号。',
    as: (person) => markup`您在该服务的身份：${person}`,
    linked: (time) => `关联时间：${time}`,
    checked: (time) => `最近检查：${time}`,
    unreachable: (time) => `自 ${time} 起无法连接。目前不会因此结束任何访问。`,
    forLogin: '您可以用它登录。',
    notForLogin: '它仅供工具使用，不能用来登录。',
    tokensKept: '此服务器加密保存它的令牌。任何应用都不会得到这些令牌。',
    noTokens: '此服务器没有保存它的令牌。',
    allowed: '在该服务允许',
    notOffered: '此服务器已不再使用该服务。',
    link: (service) => `关联 ${service}`,
    linkHeading: (service) => `关联您在 ${service} 的账号`,
    linkExplanation: (service) => `您将前往 ${service} 登录，并允许以下内容，然后返回此处。`,
    linkOfAnother:
      '某个应用以另一个账号的名义提出了此请求，而您在此处登录的不是该账号。没有关联任何内容。请退出登录，重新打开该链接，并使用该应用所用的账号登录。',
    linkTokens: '令牌会加密保存在这里，仅用于您的工具以您的名义进行的操作。任何应用都不会得到这些令牌。',
    asked: '将在该服务请求',
    goTo: (service) => `前往 ${service}`,
    away: (service) => `暂时无法连接 ${service}，请稍后再试。`,
    faulty: (service) => `${service} 的响应不正常。服务器管理员可以查明原因。`,
    linkDone: (service) => `您在 ${service} 的账号已关联。如果是某个应用让您来到此处，您现在可以返回该应用。`,
    linkDenied: (service) => `${service} 表示您没有允许。此处没有任何更改。`,
    unlink: (service) => `取消关联 ${service}`,
    unlinkHeading: (service) => `取消关联 ${service}？`,
    unlinkExplanation: (service) =>
      `依赖 ${service} 登录的应用和用它登录的浏览器会立即结束，此处保存的令牌会在该服务撤销。您在此处的账号会保留。`,
    unlinkDone: (service) => `${service} 已取消关联，依赖它的一切均已结束。`,
    keep: '保留',
    onlyWay: (service) =>
      `您只能用 ${service} 登录。取消关联之前，请先添加通行密钥、关联另一个可登录的服务，或向服务器管理员索取设置密码的链接。`,
  },

  credentials: {
    heading: 'MCP 服务器的密钥',
    explanation: '此处的某些 MCP 服务器需要您的密钥才能代表您操作。请在此处输入，任何应用都不会得到它。',
    entered: (time) => `输入时间：${time}`,
    notEntered: '尚未输入。',
    notAsked: '现在已不再需要它。',
    change: (server) => `更改 ${server} 的密钥`,
    routeHeading: (server) => `${server} 的密钥`,
    routeExplanation: (server) => `仅当您的应用调用 ${server} 时，才会把这些密钥交给它。`,
    newValue: (label) => `新的 ${label}`,
    enter: (label) => `保存 ${label}`,
    replace: (label) => `替换 ${label}`,
    remove: (label) => `移除 ${label}`,
    kept: '密钥会加密保存，仅供您的账号使用，之后不再显示。替换或移除密钥会结束用它启动的一切。',
    enterDone: (label) => `${label} 已保存。如果是某个应用让您来到此处，您现在可以返回该应用。`,
    removeDone: '已移除，用它启动的一切均已结束。',
    ofAnother:
      '某个应用以另一个账号的名义提出了此请求，而您在此处登录的不是该账号。没有输入任何内容。请退出登录，重新打开该链接，并使用该应用所用的账号登录。',
    refused: {
      empty: '没有可保存的内容，请输入密钥。',
      too_long: '内容过长，不可能是密钥。没有保存任何内容。',
      control_characters: '其中含有换行符或控制字符。没有保存任何内容。',
      not_ascii: '其中含有无法发送的字符。没有保存任何内容。',
    },
  },
};
