//! [`Authenticator`]: a device with a passkey, which signs as a test wants.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{KeyPair, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const PRESENT: u8 = 0x01;
const VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;

/// Its fields are the values of its next response, and a test may falsify them.
pub(crate) struct Authenticator {
    key: KeyPair,
    pub(crate) id: Vec<u8>,
    pub(crate) user: String,
    pub(crate) origin: String,
    pub(crate) relying_party: String,
    pub(crate) is_verified: bool,
    /// How many signatures it has made; an authenticator that does not count sends 0.
    pub(crate) counter: u32,
}

impl Authenticator {
    /// A device on a page of `origin`, without a passkey so far.
    pub(crate) fn at(origin: &str) -> Self {
        let host = origin.split_once("://").unwrap().1;
        Self {
            key: KeyPair::generate().unwrap(),
            id: rand::random::<[u8; 32]>().to_vec(),
            user: String::new(),
            origin: origin.to_owned(),
            relying_party: host.split(':').next().unwrap().to_owned(),
            is_verified: true,
            counter: 0,
        }
    }

    /// Makes a passkey, as `navigator.credentials.create` does for `options`.
    pub(crate) fn make(&mut self, options: &Value) -> String {
        let options = &options["publicKey"];
        self.user = options["user"]["id"].as_str().unwrap().to_owned();
        let client_data = self.client_data("webauthn.create", options);
        let point = self.key.public_key_raw();
        // The id of the model, all zero; the credential's id and its key (COSE: EC2, ES256, P-256, x, y).
        let mut credential = vec![0; 16];
        credential.extend([0, self.id.len() as u8]);
        credential.extend(&self.id);
        credential.extend([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]);
        credential.extend(&point[1..33]);
        credential.extend([0x22, 0x58, 0x20]);
        credential.extend(&point[33..65]);
        let data = self.data(HAS_CREDENTIAL, &credential);
        // CBOR: {"fmt": "none", "attStmt": {}, "authData": data}
        let mut attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58".to_vec();
        attestation.push(data.len() as u8);
        attestation.extend(data);
        let response = json!({
            "attestationObject": encoded(&attestation),
            "clientDataJSON": encoded(&client_data),
            "transports": ["internal"],
        });
        self.credential(response)
    }

    /// Signs, as `navigator.credentials.get` does for `options`.
    pub(crate) fn sign(&self, options: &Value) -> String {
        let client_data = self.client_data("webauthn.get", &options["publicKey"]);
        let data = self.data(0, &[]);
        let signed = [data.as_slice(), &Sha256::digest(&client_data)].concat();
        let response = json!({
            "authenticatorData": encoded(&data),
            "clientDataJSON": encoded(&client_data),
            "signature": encoded(&self.key.sign(&signed).unwrap()),
            "userHandle": self.user,
        });
        self.credential(response)
    }

    /// The id of its credential, in the encoding of the server's options.
    pub(crate) fn id(&self) -> String {
        encoded(&self.id)
    }

    fn credential(&self, response: Value) -> String {
        let (id, extensions) = (self.id(), json!({}));
        let kind = "public-key";
        json!({ "id": id, "rawId": id, "type": kind, "response": response, "clientExtensionResults": extensions })
            .to_string()
    }

    fn client_data(&self, kind: &str, options: &Value) -> Vec<u8> {
        let client_data = json!({
            "type": kind,
            "challenge": options["challenge"],
            "origin": self.origin,
            "crossOrigin": false,
        });
        client_data.to_string().into_bytes()
    }

    fn data(&self, flags: u8, credential: &[u8]) -> Vec<u8> {
        let verified = if self.is_verified { VERIFIED } else { 0 };
        let mut data = Sha256::digest(self.relying_party.as_bytes()).to_vec();
        data.push(PRESENT | verified | flags);
        data.extend(self.counter.to_be_bytes());
        data.extend(credential);
        data
    }
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
