// Starts the advice in Discourse's composer with the settings of the theme component.

import { apiInitializer } from "discourse/lib/api";
import "../lib/forum-advice";

export default apiInitializer("1.8.0", (api) => {
  if (!api.getCurrentUser()) return; // advice is about the writer alone
  const { advisor_url: advisor, token_url: tokenUrl } = settings;
  if (advisor || tokenUrl) window.recloakAdvice.start({ advisor, tokenUrl, fields: "textarea.d-editor-input" });
});
