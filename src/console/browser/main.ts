import { App } from './app.ts';

const { root = '' } = document.documentElement.dataset;
new App(document.querySelector<HTMLElement>('#app')!, location.origin + root).start();
