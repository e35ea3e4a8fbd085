import { SESSION_CHANNEL } from './session-channel.js';

/** Has the browser's other windows of the dashboard ask anew who is signed in. */
export const tellOtherWindows = (): void => {
  const channel = new BroadcastChannel(SESSION_CHANNEL);
  channel.postMessage('changed');
  channel.close();
};
