import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The pages are served below /app by the api app; `npm run dev -w @vat/dashboard` serves them beside a running one. */
export default defineConfig({
  base: '/app/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The policy of the pages allows no `data:` address, so nothing is folded into the style sheet.
    assetsInlineLimit: 0,
    target: 'es2022',
  },
  server: { proxy: { '/app/api': 'http://127.0.0.1:3000', '/docs': 'http://127.0.0.1:3000' } },
});
