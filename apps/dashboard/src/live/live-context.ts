import { createContext } from 'react';

/** Whether the server's news arrive at present. */
export const LiveContext = createContext(false);
