import { chromium } from "@playwright/test";
const base=process.argv[2], which=(process.argv[3]||"").split(",").filter(Boolean);
const b=await chromium.launch({executablePath:"/usr/bin/chromium",args:["--no-sandbox","--disable-gpu","--disable-quic","--no-first-run","--disable-background-networking","--disable-component-update","--disable-sync"]});
const ctx=await b.newContext({viewport:{width:1280,height:860}});
const p=await ctx.newPage();
p.on("console",m=>{if(["error","warning"].includes(m.type()))console.log("CONSOLE",p.url(),m.text().slice(0,300))});
p.on("pageerror",e=>console.log("PAGEERROR",p.url(),String(e).slice(0,300)));
await p.goto(base+"/login");await p.screenshot({path:"/tmp/shots/login.png"});
await p.fill('input[name=username]','admin');await p.fill('input[name=password]','demo-password-1');await p.click('button:has-text("Sign in")');
await p.waitForURL(/\/p\//,{timeout:10000});
const jobs=await (await ctx.request.post(base+"/api/jobs/list",{form:{project:"acme-docs"},headers:{origin:base}})).json();
const j=s=>jobs.jobs.find(x=>x.state==s);
const pages={overview:"/p/acme-docs",jobs:"/p/acme-docs/jobs",new:"/p/acme-docs/jobs/new",analytics:"/p/acme-docs/analytics",job:"/p/acme-docs/jobs/"+jobs.jobs.find(x=>x.follow_ups.length).id,unknown:"/p/acme-docs/jobs/"+j("unknown").id,rejected:"/p/acme-docs/jobs/"+j("rejected").id,notfound:"/p/acme-docs/nothing",api:"/p/acme-api/jobs?status=failed"};
for(const [n,u] of Object.entries(pages)){ if(which.length&&!which.includes(n))continue;
 for(const [t,vw,vh,cs] of [["light",1280,860,"light"],["dark",1280,860,"dark"],["390",390,844,"light"]]){
  await p.setViewportSize({width:vw,height:vh});await p.emulateMedia({colorScheme:cs});
  await p.goto(base+u);await p.waitForSelector('html[data-hydrated=true]',{timeout:8000}).catch(()=>console.log("NOT HYDRATED",u));
  await p.screenshot({path:`/tmp/shots/${n}-${t}.png`,fullPage:t!="light"?false:true});
  const sw=await p.evaluate(()=>document.documentElement.scrollWidth);if(sw>vw)console.log("HSCROLL",n,t,sw);
 }}
await b.close();
