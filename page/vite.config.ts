import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import preact from "@preact/preset-vite";
import { defineConfig, type Plugin } from "vite";

const OUT = process.env.PAGE_OUT ?? "../server/page";
const PDFJS = "node_modules/pdfjs-dist";

/** Puts what PDF.js loads while it runs beside the bundle: worker, character maps, fonts and picture decoders. */
function pdfFiles(): Plugin {
  return {
    name: "pdf-files",
    writeBundle() {
      const target = join(OUT, "pdf");
      mkdirSync(target, { recursive: true });
      cpSync(join(PDFJS, "legacy/build/pdf.worker.min.mjs"), join(target, "worker.js"));
      for (const folder of ["cmaps", "standard_fonts", "iccs", "wasm"])
        cpSync(join(PDFJS, folder), join(target, folder), { recursive: true, filter: (source) => !source.endsWith("_nowasm_fallback.js") });
      mkdirSync(join(target, "images"), { recursive: true });
      for (const name of readdirSync(join(PDFJS, "legacy/web/images")))
        if (name.startsWith("annotation-")) cpSync(join(PDFJS, "legacy/web/images", name), join(target, "images", name));
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [preact({ devToolsEnabled: false }), pdfFiles()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    chunkSizeWarningLimit: 800,
    license: { fileName: "licenses.md" },
    rolldownOptions: {
      output: {
        // Plain names: the server answers with ETags, and a change of one file is one file's change.
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
});
