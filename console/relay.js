// The service worker of the console. Its tabs share a key by it: a message of a tab goes to the other tabs, and only to those of the console. Any other
// page of this origin could send and read what tabs send to each other directly; a service worker gets the address of the sender from the browser.

const PAGE = self.location.pathname.replace(/\/relay\.js$/, '');

/** Whether a tab was opened with the page of the console. */
const isConsole = ({ url }) => new URL(url).pathname === PAGE;

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('message', (event) => event.waitUntil(relay(event)));

async function relay({ source, data }) {
  if (source === null || !isConsole(source)) return;
  const tabs = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  for (const tab of tabs) {
    if (tab.id !== source.id && isConsole(tab)) tab.postMessage(data);
  }
}
