// Signatures of bodies: the profile "rsa-pkcs1-sha256", which is RSASSA-PKCS1-v1_5 with SHA-256, over the bytes of the
// body exactly as they are sent.
import { createPrivateKey, createPublicKey, sign as makeSignature, verify as checkSignature } from "node:crypto";
import { Refused } from "./limits.mjs";

export const PROFILE = "rsa-pkcs1-sha256";

function rsa(read, pem, what) {
  let key;
  try {
    key = read({ key: pem, format: "pem" });
  } catch {
    throw new Refused(`${what}: no key in PEM`);
  }
  if (key.asymmetricKeyType !== "rsa") throw new Refused(`${what}: no RSA key`);
  return key;
}

/** The RSA key in a PEM of PKCS#8. */
export const privateKey = (pem, what) => rsa(createPrivateKey, pem, what);

/** The RSA key in a PEM of SubjectPublicKeyInfo. A private key is refused, although Node would use its public half. */
export function publicKey(pem, what) {
  if (pem.includes("PRIVATE KEY")) throw new Refused(`${what}: that is a private key`);
  return rsa(createPublicKey, pem, what);
}

/** The signature of a body, as bytes. */
export const sign = (body, key) => makeSignature("sha256", body, key);

/** Did the owner of the key sign this body? */
export const verify = (body, signature, key) => checkSignature("sha256", body, key, signature);
