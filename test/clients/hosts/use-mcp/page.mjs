// A page with use-mcp, for the server that its query names. At /oauth/callback it is the page that the login comes back to.
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { onMcpAuthorization } from 'use-mcp';
import { useMcp } from 'use-mcp/react';

const parameters = new URLSearchParams(location.search);

function App() {
  const mcp = useMcp({
    url: parameters.get('url'),
    transportType: parameters.get('transport'),
    clientName: 'An app with use-mcp',
    callbackUrl: `${location.origin}/oauth/callback`,
    autoReconnect: 500,
  });
  window.mcp = mcp;
  return createElement('p', null, `${mcp.state} ${mcp.error ?? ''}`);
}

if (location.pathname === '/oauth/callback') onMcpAuthorization();
else createRoot(document.querySelector('#app')).render(createElement(App));
