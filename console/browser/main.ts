import { App } from './app.ts';

const { root = '' } = document.documentElement.dataset;
void new App(document.querySelector<HTMLElement>('#app')!, location.origin + root).start();
